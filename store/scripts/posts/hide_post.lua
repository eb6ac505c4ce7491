-- Hides a status or quote of its author, or shows it again, with the job that applies the change everywhere else.
-- KEYS: minted, jobs, status, user, profile, hidden.
-- ARGV: partition, post, author, kind ('hide' or 'unhide', also the job's kind), channel, image_prefix.
-- Returns the job's id and body, {} when nothing changes, or GONE when the author has no such post.
local record = read_post(status)
if record.author ~= author then
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
if kind == 'hide' and record.images ~= '' then
  redis.call('HSET', status, StatusField.IMAGES, raise_versions(image_prefix, record.images))
end
count_posts(user, profile, hidden)
redis.call('SPUBLISH', channel, '')
return {commit_job(jobs, minted, partition, kind, {
  post = post, author = author, hashtags = record.hashtags, original = record.original,
  original_author = record.original_author, of_quote = record.of_quote, plain = false, reply_to = record.reply_to,
  root = record.root, reply_to_author = record.reply_to_author, text = record.text, latitude = record.latitude,
  longitude = record.longitude, is_public = record.unannounced == '', group = record.group,
})}
