-- Commits a status, quote or plain repost in its author's partition, with the job that delivers it.
-- On one server, it delivers a plain status to few followers at once. Nothing is left to do then, and there is no job.
-- KEYS: minted, jobs, user, profile, home, home_state, sources, candidates, newest, reposted, hidden, writes, texts,
--       uploads, idempotency?
-- ARGV: partition, author, status_prefix, content (JSON), digest, ttl (s), lift, home_size, home_slack, oldest,
--       newest_size, limits, image_prefix, images, at_once...
-- `content` has the fields of the post that are not absent. A post in a group goes to no home, and its entry in
-- the profile names the group.
-- `ttl` is that of the idempotency key.
-- `is_pulled` in the job means that the author is a big one, whose posts readers pull.
-- `limits` are those of `exceeds`.
-- `images` is JSON: the `wanted` of `first_obstacle`.
-- `lift`, `oldest` and `newest_size` are those of `deliver`.
-- `at_once` is what `deliver_at_once` takes. It is empty on a cluster, and for a post that is delivered later anyway.
-- Returns {id, job body}, {id} for a retry or a second plain repost, CONFLICT, HOUR, TEXT, or the refusal of a picture.
-- Without a job, returns {id, '', number of followers reached, the author's number of posts, their other fields}.
local post = with_absent(cjson.decode(content))
local plain = post.original ~= '' and post.text == ''
local fields, member = redis.call('HGETALL', user), {}
if #fields == 0 then
  return redis.error_reply('PERCH no such member')
end
for i = 1, #fields, 2 do
  member[fields[i]] = fields[i + 1]
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
local is_public = not (member[UserField.PRIVATE] or member[UserField.SUSPENDED])
if not is_public then
  redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
end
-- The profile's entry for a plain repost names the original and its author: reading the profile needs no status.
redis.call('ZADD', profile, id, profile_entry(id, plain, post))
local posts = count_posts(user, profile, hidden)
local delivery = begin_delivery({
  lift = lift, home_size = home_size, home_slack = home_slack, oldest = oldest, newest_size = newest_size,
  deliverer = author, post = id, author = author, repost = '', earlier_reposts = '',
})
if plain then
  redis.call('HSET', reposted, post.original, id)
elseif post.group == '' then
  deliver_here(delivery, {newest}, delivery.is_newest and {redis.call('GET', newest)})
end
remember_result(idempotency, digest, id, ttl)

local followers, most, timeline, ranking, timeline_size, hashtag_size, ranking_size, decade, tags_kept, uses_ttl, events,
  events_kept, channel = unpack(at_once)

-- Lists a new post publicly and with its tags. Returns its content for the event log.
local function list_new()
  local made = math.floor(tonumber(id) / 4096) + EPOCH
  local score, counts, listed = made / 1000 / decade, {}, {}
  list_publicly(timeline, ranking, {id, score})
  trim_publicly(timeline, ranking, timeline_size, ranking_size)
  for tag in string.gmatch(post.hashtags, '[^#]+') do
    if not listed[tag] then
      local tagged, ranked = Stem.hashtag .. '{' .. tag .. '}', Stem.important_hashtag .. '{' .. tag .. '}'
      list_publicly(tagged, ranked, {id, score})
      trim_publicly(tagged, ranked, hashtag_size, ranking_size)
      listed[tag], counts[#counts + 1], counts[#counts + 2] = true, tag, 1
    end
  end
  if #counts > 0 then
    count_tags(Stem.tag_uses .. '{' .. math.floor(made / 3600000) .. '}', tags_kept, uses_ttl, counts)
  end
  local content = {}
  for _, field in ipairs({StatusField.TEXT, StatusField.LATITUDE, StatusField.LONGITUDE}) do
    if post[field] ~= '' then
      content[#content + 1], content[#content + 2] = field, post[field]
    end
  end
  return content
end

-- Delivers a status to all followers, and then logs its event. Returns the number of followers, or a false value when
-- they are too many for one step.
local function deliver_at_once()
  local members = redis.call('ZRANGE', followers, 0, most - 1)
  if #members == tonumber(most) then
    return false
  end
  local keys = homes_of(members)
  if #keys > 0 then
    deliver_here(delivery, keys, delivery.is_newest and redis.call('MGET', unpack(keys)))
  end
  local about, content = {'kind', 'post', 'actor', author, 'post', id}, {}
  if is_public then
    about[7], about[8] = 'is_public', '1'
    content = list_new()
  end
  append_to_log(events, events_kept, channel, about, content)
  return #members
end
local is_pulled = string.match(member[UserField.REACH] or '', '%a+') == 'big'
if #at_once > 0 and not is_pulled then
  -- The event is the last step, so that a job can repeat the others after an error.
  local is_done, reached = pcall(deliver_at_once)
  if is_done and reached then
    return {id, '', reached, posts, fields}
  end
end
local body = commit(jobs, tonumber(id), 'post', {
  author = author, hashtags = post.hashtags, original = post.original, original_author = post.original_author,
  of_quote = post.of_quote, plain = plain, mentions = post.mentions, reply_to = post.reply_to, root = post.root,
  reply_to_author = post.reply_to_author, text = post.text, latitude = post.latitude, longitude = post.longitude,
  is_public = is_public, group = post.group, original_group = post.original_group,
  is_pulled = is_pulled,
})
return {id, body}
