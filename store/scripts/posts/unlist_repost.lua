-- Removes a repost, quote or reply from its original's list. A tombstone keeps late work from listing it again.
-- KEYS: status (of the original), listing (of its reposts, quotes or replies), tombstone (of the repost), rescore.
-- ARGV: entry, repost, author, counter, original, original_author, ttl (s), channel, mailboxes.
-- `repost` may be a quote or a reply, and `author` made it. `entry` and `counter` are those of the listing.
-- `ttl` is that of the tombstone.
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
