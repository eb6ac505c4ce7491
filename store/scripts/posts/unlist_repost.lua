-- Removes a repost, quote or reply from its original's list. A tombstone keeps late work from listing it again.
-- KEYS original's status, its reposts, quotes or replies, tombstone, rescore
-- ARGV member of the set, id, tombstone's life (s), counter, channel, original, author of the repost,
--      original's author, mailboxes
local box = mailbox(ARGV[9], ARGV[8])
if ARGV[4] ~= 'reposts' then -- even if the original and its list are gone already
  withdraw(box, ARGV[4] == 'quotes' and 'QUOTE' or 'REPLY', ARGV[7], ARGV[2])
end
redis.call('SET', KEYS[3], '1', 'EX', ARGV[3])
local listed = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not listed or tonumber(listed) ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[4], redis.call('ZCARD', KEYS[2]))
  changed(ARGV[5], KEYS[4], ARGV[6])
end
if ARGV[4] == 'reposts' then
  withdraw(box, 'REPOST', ARGV[7], ARGV[6])
end
return 1
