-- Commits posts of an import in their authors' partition, with the job that lists the public ones.
-- KEYS: minted, jobs, uploads, imported.
-- ARGV: partition, image_prefix, posts... (of each author: the author, a number, so many words).
-- The words are two for each post: its content, as in `create_post`, and its pictures as JSON, or ''. The import has just
-- made the pictures. `imported` counts the posts by author. Authors who are gone have no new posts.
-- No home has the posts before the import builds it, not even those of the authors.
-- Returns the job's id and body; false when there is nothing to list.
local listed = {}

local function publish(author, words)
  local tag = tag_of(author)
  local user, profile = Stem.user .. tag, Stem.profile .. tag
  local login, private, suspended =
    unpack(redis.call('HMGET', user, UserField.LOGIN, UserField.PRIVATE, UserField.SUSPENDED))
  if not login then
    return
  end
  for i, id in ipairs(mint_many(minted, partition, #words / 2)) do
    local post, wanted = cjson.decode(words[2 * i - 1]), words[2 * i]
    local status = Stem.status .. string.match(tag, '.*:') .. id
    write_post(status, author, post)
    if wanted ~= '' then
      local packed = attach_images(image_prefix, uploads, cjson.decode(wanted), 'status:' .. id)
      redis.call('HSET', status, StatusField.IMAGES, packed)
    end
    if private or suspended then
      redis.call('HSET', status, StatusField.UNANNOUNCED, '1')
    else
      listed[#listed + 1] = {id, post.hashtags}
    end
    redis.call('ZADD', profile, id, profile_entry(id, false, post))
  end
  count_posts(user, profile, Stem.hidden .. tag)
  redis.call('HINCRBY', imported, author, #words / 2)
end

local i = 1
while i <= #posts do
  local last = i + 1 + tonumber(posts[i + 1])
  publish(posts[i], {unpack(posts, i + 2, last)})
  i = last + 1
end
if #listed == 0 then
  return false
end
local id = mint(minted, partition)
return {str(id), commit(jobs, id, 'import', {posts = listed})}
