-- Hides a status or quote of its author, or shows it again, with the job that applies the change everywhere else.
-- KEYS: minted, jobs, status, user, profile, hidden.
-- ARGV: partition, post, author, kind ('hide' or 'unhide', also the job's kind), channel, image_prefix.
-- Returns the job's id and body, {} when nothing changes, or GONE when the author has no such post.
local written_by, text, hashtags, original, original_author, of_quote, reply_to, reply_to_author, root, latitude,
  longitude, unannounced, group, packed = unpack(redis.call(
    'HMGET', status, StatusField.AUTHOR, StatusField.TEXT, StatusField.HASHTAGS, StatusField.ORIGINAL,
    StatusField.ORIGINAL_AUTHOR, StatusField.OF_QUOTE, StatusField.REPLY_TO, StatusField.REPLY_TO_AUTHOR,
    StatusField.ROOT, StatusField.LATITUDE, StatusField.LONGITUDE, StatusField.UNANNOUNCED, StatusField.GROUP,
    StatusField.IMAGES
  ))
if written_by ~= author then
  return Refusal.GONE
end
local count
if kind == 'hide' then
  count = redis.call('ZADD', hidden, post, post)
  redis.call('HSET', status, StatusField.HIDDEN, 1)
else
  count = redis.call('ZREM', hidden, post)
  redis.call('HDEL', status, StatusField.HIDDEN)
end
if count == 0 then
  return {}
end
if kind == 'hide' and packed then
  redis.call('HSET', status, StatusField.IMAGES, raise_versions(image_prefix, packed))
end
count_posts(user, profile, hidden)
local id = mint(minted, partition)
local body = commit(jobs, id, kind, {
  post = post, author = author, hashtags = hashtags or '', original = original or '',
  original_author = original_author or '', of_quote = of_quote or '', plain = false,
  reply_to = reply_to or '', root = root or '', reply_to_author = reply_to_author or '',
  text = text, latitude = latitude or '', longitude = longitude or '', is_public = not unannounced, group = group or '',
})
redis.call('SPUBLISH', channel, '')
return {str(id), body}
