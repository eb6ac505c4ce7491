-- The other side of a follow: applies it only if nothing newer is known.
-- KEYS user, set, tombstone, minted, jobs; only the first two where the set's owner is the follower, whose own commits
--      are always newest
-- ARGV 'add' or 'remove', member, edge, tombstone's life (s), partition, owner, followers that make a big author
-- Returns 1, 0 when something newer is known, false when the set's owner is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local edge = tonumber(ARGV[3])
local known = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[2]) or '0')
if ARGV[1] == 'add' then
  local ended = KEYS[3] and tonumber(redis.call('GET', KEYS[3]) or '0') or 0
  if edge <= known or edge <= ended then
    return 0
  end
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
else
  if KEYS[3] then
    local ended = tonumber(redis.call('GET', KEYS[3]) or '0')
    redis.call('SET', KEYS[3], str(math.max(edge, ended)), 'EX', ARGV[4])
  end
  if known == 0 or known > edge then
    return 0
  end
  redis.call('ZREM', KEYS[2], ARGV[2])
end
local count = redis.call('ZCARD', KEYS[2])
if KEYS[3] then
  weigh(KEYS[1], KEYS[5], KEYS[4], ARGV[5], ARGV[6], count, ARGV[7])
else
  redis.call('HSET', KEYS[1], 'following', count)
end
return 1
