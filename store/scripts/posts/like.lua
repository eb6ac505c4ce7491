-- Likes a post, once.
-- KEYS: minted, status, likes, rescore.
-- ARGV: partition, member, channel, post, mailboxes, refused.
-- `refused` is '1' when the member may make no new like now, else ''.
-- Returns 1 for a new like, 0 for an existing one, -1 for a refused one, false when the post is gone.
local author = redis.call('HGET', status, StatusField.AUTHOR)
if not author then
  return false
end
if redis.call('ZSCORE', likes, member) then
  return 0
end
if refused ~= '' then
  return -1
end
redis.call('ZADD', likes, str(mint(minted, partition)), member)
redis.call('HSET', status, StatusField.LIKES, redis.call('ZCARD', likes))
changed(channel, rescore, post)
notify(mailbox(mailboxes, author), 'LIKE', member, post)
return 1
