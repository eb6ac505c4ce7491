-- Lists a repost or quote at its original, or a reply at the post it answers, which is called the original here, too.
-- KEYS: status (of the original), listing (of its reposts, quotes or replies), tombstone (of the repost), rescore.
-- ARGV: entry (of the listing), repost (or quote or reply), author (of the repost), counter (of the listing),
--       original, channel, mailboxes.
-- A member's newer repost of the same post stays.
-- Returns 1, or 0 when the original is gone.
if redis.call('EXISTS', status) == 0 then
  return 0
end
if redis.call('EXISTS', tombstone) == 0 and redis.call('ZADD', listing, 'GT', 'CH', repost, entry) == 1 then
  redis.call('HSET', status, counter, redis.call('ZCARD', listing))
  changed(channel, rescore, original)
  local kinds = {[StatusField.REPOSTS] = 'REPOST', [StatusField.QUOTES] = 'QUOTE', [StatusField.REPLIES] = 'REPLY'}
  local kind = kinds[counter]
  local box = mailbox(mailboxes, redis.call('HGET', status, StatusField.AUTHOR))
  notify(box, kind, author, kind == 'REPOST' and original or repost)
end
return 1
