-- Makes a member private or suspended, or ends that, with the job that moves their published posts.
-- KEYS minted, jobs, user, credentials, sessions; ARGV partition, member, 'private' or 'suspended', '1' or ''
-- Returns the job's id and body and the sessions ended; {} when nothing changes, false without the member.
if redis.call('EXISTS', KEYS[3]) == 0 then
  return false
end
local is = redis.call('HEXISTS', KEYS[3], ARGV[3]) == 1
if is == (ARGV[4] == '1') then
  return {}
end
local ended = {}
if is then
  redis.call('HDEL', KEYS[3], ARGV[3])
else
  redis.call('HSET', KEYS[3], ARGV[3], '1')
end
if ARGV[3] == 'suspended' then
  if is then
    redis.call('HDEL', KEYS[4], 'suspended')
  else
    redis.call('HSET', KEYS[4], 'suspended', '1')
    ended = redis.call('HKEYS', KEYS[5])
    redis.call('DEL', KEYS[5])
  end
end
local id = mint(KEYS[1], ARGV[1])
local body = cjson.encode({member = ARGV[2], what = ARGV[3]})
commit(KEYS[2], id, 'privacy_change', body)
return {str(id), body, ended}
