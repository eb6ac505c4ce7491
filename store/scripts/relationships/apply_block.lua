-- Applies a block, or its end, on the blocked side, unless a newer version is known.
-- KEYS: user, blocked_by, tombstone.
-- ARGV: step ('add' or 'remove'), blocker, block, ttl (s, of the tombstone), member (who is blocked),
--       mailboxes ('' to notify nobody).
-- Returns false when the blocked member is gone.
if redis.call('EXISTS', user) == 0 then
  return false
end
local version, known = tonumber(block), tonumber(redis.call('ZSCORE', blocked_by, blocker) or '0')
local ended = tonumber(redis.call('GET', tombstone) or '0')
if step == 'add' then
  if version > math.max(known, ended) then
    redis.call('ZADD', blocked_by, block, blocker)
    withdraw_by(mailbox(mailboxes, member), blocker)
  end
else
  redis.call('SET', tombstone, str(math.max(version, ended)), 'EX', ttl)
  if known ~= 0 and known <= version then
    redis.call('ZREM', blocked_by, blocker)
  end
end
return 1
