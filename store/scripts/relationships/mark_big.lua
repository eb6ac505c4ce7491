-- Adds a member to the big authors or removes them, unless a newer job has decided otherwise.
-- KEYS: big, big_version.
-- ARGV: step ('add' or 'remove'), member, job.
-- Returns 1, 0 when a newer job has decided or there is nobody to remove.
local known = tonumber(redis.call('ZSCORE', big, member) or '0')
if step == 'add' then
  if tonumber(job) <= known then
    return 0
  end
  redis.call('ZADD', big, job, member)
else
  if known == 0 or known > tonumber(job) then
    return 0
  end
  redis.call('ZREM', big, member)
end
redis.call('INCR', big_version)
return 1
