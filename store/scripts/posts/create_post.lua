-- Commits a status, quote or plain repost in its author's partition, with the job that delivers it.
-- KEYS: minted, jobs, user, profile, home, home_state, sources, candidates, newest, reposted, hidden, writes, texts,
--       uploads, idempotency?
-- ARGV: partition, author, status_prefix, content (JSON), digest, ttl (s), home_size, home_slack, imported, limits,
--       image_prefix, images.
-- `content` has the fields of the post, '' for each that is absent. A post in a group goes to no home, and its entry in
-- the profile names the group.
-- `ttl` is that of the idempotency key.
-- `imported` is the key of the hash that counts the posts of an import by author.
-- `is_pulled` in the job means that the author is a big one, whose posts readers pull.
-- `limits` are those of `exceeds`.
-- `images` is JSON: the `wanted` of `first_obstacle`.
-- Returns {id, job body}, {id} for a retry or a second plain repost, CONFLICT, HOUR, TEXT, or the refusal of a picture.
local post = cjson.decode(content)
local plain = post.original ~= '' and post.text == ''
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local first = first_result(idempotency, digest)
if first then
  return first
end
if plain then
  local id = redis.call('HGET', reposted, post.original)
  if id then
    remember_result(idempotency, digest, id, ttl)
    return {id}
  end
end
local exceeded = exceeds(writes, texts, limits)
if exceeded then
  return exceeded
end
local wanted = images ~= '' and cjson.decode(images)
if wanted then
  local obstacle = first_obstacle(image_prefix, author, 'POST', wanted)
  if obstacle then
    return obstacle
  end
end
local id = str(mint(minted, partition, post.original ~= '' and post.original or post.reply_to))
local status = status_prefix .. id
write_post(status, author, post)
if wanted then
  redis.call('HSET', status, StatusField.IMAGES, attach_images(image_prefix, uploads, wanted, 'status:' .. id))
end
local is_public = redis.call('HEXISTS', user, UserField.PRIVATE) + redis.call('HEXISTS', user, UserField.SUSPENDED) == 0
if not is_public then
  redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
end
-- The profile's entry for a plain repost names the original and its author: reading the profile needs no status.
redis.call('ZADD', profile, id, profile_entry(id, plain, post))
count_posts(user, profile, hidden)
if plain then
  redis.call('HSET', reposted, post.original, id)
elseif post.group == '' then
  local at = {
    home = home, state = home_state, sources = sources, candidates = candidates, newest = newest,
  }
  if open_home(at) then
    move(at, id, nil, tonumber(id))
    trim(at, home_size, home_slack, 0)
  end
end
remember_result(idempotency, digest, id, ttl)
if imported ~= '' then
  redis.call('HINCRBY', imported, author, 1)
end
local body = commit(jobs, tonumber(id), 'post', {
  author = author, hashtags = post.hashtags, original = post.original, original_author = post.original_author,
  of_quote = post.of_quote, plain = plain, mentions = post.mentions, reply_to = post.reply_to, root = post.root,
  reply_to_author = post.reply_to_author, text = post.text, latitude = post.latitude, longitude = post.longitude,
  is_public = is_public, group = post.group, original_group = post.original_group,
  is_pulled = string.match(redis.call('HGET', user, UserField.REACH) or '', '%a+') == 'big',
})
return {id, body}
