-- Applies a block, or its end, on the blocked side, unless a newer version is known.
-- KEYS user, blocked by, tombstone; ARGV 'add' or 'remove', who blocks, block, tombstone's life (s),
--      blocked member, mailboxes ('' to notify nobody)
-- Returns false when the blocked member is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local block, known = tonumber(ARGV[3]), tonumber(redis.call('ZSCORE', KEYS[2], ARGV[2]) or '0')
local ended = tonumber(redis.call('GET', KEYS[3]) or '0')
if ARGV[1] == 'add' then
  if block > math.max(known, ended) then
    redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
    withdraw_by(mailbox(ARGV[6], ARGV[5]), ARGV[2])
  end
else
  redis.call('SET', KEYS[3], str(math.max(block, ended)), 'EX', ARGV[4])
  if known ~= 0 and known <= block then
    redis.call('ZREM', KEYS[2], ARGV[2])
  end
end
return 1
