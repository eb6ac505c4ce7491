-- Removes a like. KEYS status, likes, rescore; ARGV member, channel, post, mailboxes
-- Returns 1, 0 when there was none, false when the post is gone.
local author = redis.call('HGET', KEYS[1], 'author')
if not author then
  return false
end
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'likes', redis.call('ZCARD', KEYS[2]))
changed(ARGV[2], KEYS[3], ARGV[3])
withdraw(mailbox(ARGV[4], author), 'LIKE', ARGV[1], ARGV[3])
return 1
