-- Likes a post, once.
-- KEYS: minted, status, likes, rescore.
-- ARGV: partition, member, channel, post, mailboxes, refused.
-- `refused` is why the member may make no new like now, else ''.
-- Returns 1 for a new like or 0 for an existing one, with the number of likes. Else it returns GONE or `refused`.
local author = redis.call('HGET', status, StatusField.AUTHOR)
if not author then
  return Refusal.GONE
end
if refused ~= '' then
  return redis.call('ZSCORE', likes, member) and {0, redis.call('ZCARD', likes)} or refused
end
local id, tick = next_id(minted, partition)
id = str(id)
-- NX, not a look before: it searches a long set of likes once.
local is_new = redis.call('ZADD', likes, 'NX', id, member)
local count = redis.call('ZCARD', likes)
if is_new == 1 then
  redis.call('SET', minted, tick)
  redis.call('HSET', status, StatusField.LIKES, count)
  changed(channel, rescore, post)
  notify_of_like(mailbox(mailboxes, author), member, post, id)
end
return {is_new, count}
