-- Likes a post, once. KEYS minted, status, likes, rescore; ARGV partition, member, channel, post, mailboxes
-- Returns 1 for a new like, 0 for an existing one, false when the post is gone.
local author = redis.call('HGET', KEYS[2], 'author')
if not author then
  return false
end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[3], str(mint(KEYS[1], ARGV[1])), ARGV[2])
redis.call('HSET', KEYS[2], 'likes', redis.call('ZCARD', KEYS[3]))
changed(ARGV[3], KEYS[4], ARGV[4])
notify(mailbox(ARGV[5], author), 'LIKE', ARGV[2], ARGV[4])
return 1
