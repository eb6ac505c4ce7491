-- Deletes a post from its author's partition, with the job that removes it everywhere else.
-- Its likes, comments and reposts stay until the job has read them. Without the status, none is shown or added.
-- KEYS: minted, jobs, progress, status, user, profile, home, home_state, sources, candidates, newest, reposted, hidden,
--       dead_jobs, images, credentials?.
-- ARGV: partition, post, author, channel, image_prefix, logged, rank?, act?.
-- A moderator of a lower rank than the author's is refused. `act` is JSON, which the job logs with
-- the fields of the post that `logged` names.
-- Returns the job's id and body, {} when the post is gone or is not the author's, or OUTRANKED.
local record = read_post(status)
if record.author ~= author then
  return {}
end
if credentials and not is_below(credentials, rank) then
  return Refusal.OUTRANKED
end
local plain = record.original ~= '' and record.text == ''
redis.call('DEL', status)
redis.call('ZREM', profile, profile_entry(post, plain, record))
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
  redis.call('HDEL', reposted, record.original)
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
redis.call('SPUBLISH', channel, '')
return {commit_job(jobs, minted, partition, 'delete', {
  post = post, author = author, hashtags = record.hashtags, original = record.original,
  original_author = record.original_author, of_quote = record.of_quote, plain = plain, overtook = overtook == 1,
  reply_to = record.reply_to, root = record.root, reply_to_author = record.reply_to_author,
  mentions = record.mentions, text = record.text, latitude = record.latitude, longitude = record.longitude,
  is_public = record.unannounced == '', group = record.group, original_group = record.original_group,
  act = carried(act, logged_of(record, logged)),
  objects = record.images ~= '' and drop_images(image_prefix, images, record.images) or nil,
})}
