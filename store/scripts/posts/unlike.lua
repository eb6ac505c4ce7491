-- Removes a like.
-- KEYS: status, likes, rescore.
-- ARGV: member, channel, post, mailboxes.
-- Returns 1, 0 when there was none, false when the post is gone.
local author = redis.call('HGET', status, StatusField.AUTHOR)
if not author then
  return false
end
if redis.call('ZREM', likes, member) == 0 then
  return 0
end
redis.call('HSET', status, StatusField.LIKES, redis.call('ZCARD', likes))
changed(channel, rescore, post)
withdraw(mailbox(mailboxes, author), 'LIKE', member, post)
return 1
