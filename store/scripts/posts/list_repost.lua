-- Lists a repost or quote at its original, or a reply at the post it answers, which is called the original here, too.
-- KEYS original's status, its reposts, quotes or replies, tombstone of the repost, rescore
-- ARGV member of the set, id, counter, channel, original, author of the repost, mailboxes
-- A member's newer repost of the same post stays.
-- Returns 1, or 0 when the original is gone.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
if redis.call('EXISTS', KEYS[3]) == 0 and redis.call('ZADD', KEYS[2], 'GT', 'CH', ARGV[2], ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[3], redis.call('ZCARD', KEYS[2]))
  changed(ARGV[4], KEYS[4], ARGV[5])
  local kind = ({reposts = 'REPOST', quotes = 'QUOTE', replies = 'REPLY'})[ARGV[3]]
  local box = mailbox(ARGV[7], redis.call('HGET', KEYS[1], 'author'))
  notify(box, kind, ARGV[6], kind == 'REPOST' and ARGV[5] or ARGV[2])
end
return 1
