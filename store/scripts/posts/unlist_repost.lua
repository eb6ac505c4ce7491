-- Removes a repost, quote or reply from its original's list. A tombstone keeps late work from listing it again.
-- KEYS: status (of the original), listing (of its reposts, quotes or replies), tombstone (of the repost), rescore.
-- ARGV: entry (of the listing), repost (or quote or reply), author (of the repost), counter (of the listing),
--       original, original_author, ttl (s, of the tombstone), channel, mailboxes.
local box = mailbox(mailboxes, original_author)
if counter ~= StatusField.REPOSTS then -- even if the original and its list are gone already
  withdraw(box, counter == StatusField.QUOTES and 'QUOTE' or 'REPLY', author, repost)
end
redis.call('SET', tombstone, '1', 'EX', ttl)
local listed = redis.call('ZSCORE', listing, entry)
if not listed or tonumber(listed) ~= tonumber(repost) then
  return 0
end
redis.call('ZREM', listing, entry)
if redis.call('EXISTS', status) == 1 then
  redis.call('HSET', status, counter, redis.call('ZCARD', listing))
  changed(channel, rescore, original)
end
if counter == StatusField.REPOSTS then
  withdraw(box, 'REPOST', author, original)
end
return 1
