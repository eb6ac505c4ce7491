-- Commits a status, quote or plain repost in its author's partition, with the job that delivers it.
-- KEYS: minted, jobs, user, profile, home, home_state, sources, candidates, newest, reposted, hidden, writes, texts,
--       uploads, idempotency?
-- ARGV: partition, author, status_prefix, text, mentions, hashtags, original, original_author, of_quote, reply_to,
--       reply_to_author, root, group, original_group, latitude, longitude, digest, ttl (s), home_size, home_slack,
--       imported, limits, image_prefix, images.
-- An argument without a value is ''. `mentions` are members' ids, separated by spaces. `hashtags` has a # before each.
-- `original` is the post reposted, and `of_quote` is '1' when that is a quote. `reply_to` is the post answered.
-- `root` is the post that began the conversation. `group` is the one that it is posted in, and `original_group` that of
-- the original. A post in a group goes to no home, and its entry in the profile names the group.
-- `ttl` is that of the idempotency key.
-- `imported` is the key of the hash that counts the posts of an import by author.
-- `is_pulled` in the job means that the author is a big one, whose posts readers pull.
-- `limits` are those of `exceeds`.
-- `images` is JSON: the `wanted` of `first_obstacle`.
-- Returns {id, job body}, {id} for a retry or a second plain repost, CONFLICT, HOUR, TEXT, or the refusal of a picture.
local plain = original ~= '' and text == ''
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local first = first_result(idempotency, digest)
if first then
  return first
end
if plain then
  local id = redis.call('HGET', reposted, original)
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
local id = str(mint(minted, partition, original ~= '' and original or reply_to))
local status = status_prefix .. id
redis.call('HSET', status, StatusField.AUTHOR, author, StatusField.TEXT, text)
for _, field in ipairs({
  {StatusField.MENTIONS, mentions}, {StatusField.HASHTAGS, hashtags}, {StatusField.ORIGINAL, original},
  {StatusField.ORIGINAL_AUTHOR, original_author}, {StatusField.OF_QUOTE, of_quote}, {StatusField.REPLY_TO, reply_to},
  {StatusField.ROOT, root}, {StatusField.REPLY_TO_AUTHOR, reply_to_author}, {StatusField.LATITUDE, latitude},
  {StatusField.LONGITUDE, longitude}, {StatusField.GROUP, group}, {StatusField.ORIGINAL_GROUP, original_group},
}) do
  if field[2] ~= '' then
    redis.call('HSET', status, field[1], field[2])
  end
end
if wanted then
  redis.call('HSET', status, StatusField.IMAGES, attach_images(image_prefix, uploads, wanted, 'status:' .. id))
end
local is_public = redis.call('HEXISTS', user, UserField.PRIVATE) + redis.call('HEXISTS', user, UserField.SUSPENDED) == 0
if not is_public then
  redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
end
-- The profile's entry for a plain repost names the original and its author: reading the profile needs no status.
redis.call('ZADD', profile, id, profile_entry(id, plain and original, original_author, original_group, group))
count_posts(user, profile, hidden)
if plain then
  redis.call('HSET', reposted, original, id)
elseif group == '' then
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
  author = author, hashtags = hashtags, original = original, original_author = original_author, of_quote = of_quote,
  plain = plain, mentions = mentions, reply_to = reply_to, root = root, reply_to_author = reply_to_author,
  text = text, latitude = latitude, longitude = longitude, is_public = is_public, group = group,
  original_group = original_group,
  is_pulled = string.match(redis.call('HGET', user, UserField.REACH) or '', '%a+') == 'big',
})
return {id, body}
