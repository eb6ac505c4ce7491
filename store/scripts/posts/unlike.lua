-- Removes a like.
-- KEYS: status, likes, rescore.
-- ARGV: member, channel, post, mailboxes.
-- Returns 1, or 0 when there was none, with the number of likes; GONE without the post.
local author = redis.call('HGET', status, StatusField.AUTHOR)
if not author then
  return Refusal.GONE
end
local id = redis.call('ZSCORE', likes, member)
local removed = redis.call('ZREM', likes, member)
local count = redis.call('ZCARD', likes)
if removed == 1 then
  redis.call('HSET', status, StatusField.LIKES, count)
  changed(channel, rescore, post)
  withdraw_like(mailbox(mailboxes, author), member, post, id)
end
return {removed, count}
