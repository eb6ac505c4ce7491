-- Changes fields of the profile and the credentials together.
-- KEYS minted, jobs, user, credentials, former logins
-- ARGV partition, member, job body or '', life of a former login (s), number of profile pairs, profile pairs,
--      credential pairs
-- Returns the job's id and body, {} when no name changed.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return redis.error_reply('PERCH no such member')
end
-- The old names are read in this step. So of two simultaneous changes, the later one releases the earlier one's names.
local names = ARGV[3] ~= '' and cjson.decode(ARGV[3])
if names then
  names.old_login = names.login and redis.call('HGET', KEYS[3], 'login')
  names.old_email = names.email and redis.call('HGET', KEYS[4], 'email')
  if names.old_login then
    local now = redis.call('TIME')[1]
    redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - ARGV[4])
    redis.call('ZADD', KEYS[5], now, string.lower(names.old_login))
  end
end
local split = 5 + tonumber(ARGV[5]) * 2
for i = 6, split, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i = split + 1, #ARGV, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
if not names then
  return {}
end
local id, body = mint(KEYS[1], ARGV[1]), cjson.encode(names)
commit(KEYS[2], id, 'names', body)
return {str(id), body}
