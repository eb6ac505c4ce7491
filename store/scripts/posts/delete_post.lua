-- Deletes a post from its author's partition, with the job that removes it everywhere else.
-- Its likes, comments and reposts stay until the job has read them. Without the status, none is shown or added.
-- KEYS: minted, jobs, progress, status, user, profile, home, home_state, sources, candidates, newest, reposted, hidden,
--       dead_jobs, images, credentials?.
-- ARGV: partition, post, author, channel, image_prefix, rank?, act?.
-- A moderator of a lower rank than the author's is refused. `act` is JSON, which the job logs with the post's text.
-- Returns the job's id and body, {} when the post is gone or is not the author's, or OUTRANKED.
local written_by, text, hashtags, original, original_author, of_quote, reply_to, reply_to_author, root, mentions,
  latitude, longitude, unannounced, group, original_group, packed = unpack(redis.call(
    'HMGET', status, StatusField.AUTHOR, StatusField.TEXT, StatusField.HASHTAGS, StatusField.ORIGINAL,
    StatusField.ORIGINAL_AUTHOR, StatusField.OF_QUOTE, StatusField.REPLY_TO, StatusField.REPLY_TO_AUTHOR,
    StatusField.ROOT, StatusField.MENTIONS, StatusField.LATITUDE, StatusField.LONGITUDE, StatusField.UNANNOUNCED,
    StatusField.GROUP, StatusField.ORIGINAL_GROUP, StatusField.IMAGES
  ))
if written_by ~= author then
  return {}
end
if credentials and not is_below(credentials, rank) then
  return Refusal.OUTRANKED
end
local plain = original and text == ''
redis.call('DEL', status)
redis.call('ZREM', profile, profile_entry(post, plain and original, original_author, original_group, group))
redis.call('ZREM', hidden, post)
if redis.call('HGET', user, UserField.PINNED) == post then
  redis.call('HDEL', user, UserField.PINNED)
end
if redis.call('EXISTS', user) == 1 then -- not while the whole account is being deleted
  count_posts(user, profile, hidden)
end
local at = {home = home, state = home_state, sources = sources, candidates = candidates, newest = newest}
open_home(at, true)
remove_post(at, post)
if plain then
  redis.call('HDEL', reposted, original)
end
-- A running delivery stops at its next checkpoint. `overtook` tells the job that one batch may still be in flight.
local overtook = 0
if redis.call('EXISTS', jobs) == 1 then
  overtook = redis.call('XDEL', jobs, post .. '-0')
  if overtook == 1 then
    redis.call('XACK', jobs, 'workers', post .. '-0')
    redis.call('HDEL', progress, post)
    redis.call('ZREM', dead_jobs, post)
  end
end
local id = mint(minted, partition)
local body = commit(jobs, id, 'delete', {
  post = post, author = author, hashtags = hashtags or '', original = original or '',
  original_author = original_author or '', of_quote = of_quote or '', plain = plain, overtook = overtook == 1,
  reply_to = reply_to or '', root = root or '', reply_to_author = reply_to_author or '', mentions = mentions or '',
  text = text, latitude = latitude or '', longitude = longitude or '', is_public = not unannounced,
  group = group or '', original_group = original_group or '',
  act = carried(act, text), objects = packed and drop_images(image_prefix, images, packed) or nil,
})
redis.call('SPUBLISH', channel, '')
return {str(id), body}
