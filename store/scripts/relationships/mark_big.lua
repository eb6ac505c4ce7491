-- Adds a member to the big authors or removes them, unless a newer job has decided otherwise.
-- KEYS big authors, their version; ARGV 'add' or 'remove', member, job
local known = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2]) or '0')
if ARGV[1] == 'add' then
  if tonumber(ARGV[3]) <= known then
    return 0
  end
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
else
  if known == 0 or known > tonumber(ARGV[3]) then
    return 0
  end
  redis.call('ZREM', KEYS[1], ARGV[2])
end
redis.call('INCR', KEYS[2])
return 1
