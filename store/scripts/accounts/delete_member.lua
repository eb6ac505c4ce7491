-- Deletes a member. From this step on they are not seen and cannot do anything. A job removes the rest.
-- KEYS minted, jobs, active, user, credentials, sessions, home, home state, sources, newest
-- ARGV partition, member, hash of the checked password
-- Returns the job's id and body and the sessions ended; false when the password has changed since the check, or the
-- member is gone.
if redis.call('HGET', KEYS[5], 'password') ~= ARGV[3] then
  return false
end
local body = cjson.encode({
  member = ARGV[2],
  login = redis.call('HGET', KEYS[4], 'login') or '',
  email = redis.call('HGET', KEYS[5], 'email') or '',
})
local ended = redis.call('HKEYS', KEYS[6])
redis.call('DEL', unpack(KEYS, 4))
redis.call('ZREM', KEYS[3], ARGV[2])
local id = mint(KEYS[1], ARGV[1])
commit(KEYS[2], id, 'delete_account', body)
return {str(id), body, ended}
