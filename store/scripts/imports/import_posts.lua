-- Commits posts of an import in their authors' partition, with the job that lists the public ones.
-- KEYS: minted, jobs, uploads, imported.
-- ARGV: partition, image_prefix, posts... (of each author: the author, a number, so many words).
-- The words are four for each post: its text, hashtags, mentions, and its pictures as JSON, '' for each that is absent. The
-- import has just made the pictures. `imported` counts the posts by author. Authors who are gone have no new posts.
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
  local own = {}
  for i, id in ipairs(mint_many(minted, partition, #words / 4)) do
    local text, hashtags, mentions, images = unpack(words, 4 * i - 3, 4 * i)
    local is_hushed = private or suspended
    if images ~= '' then
      images = attach_images(image_prefix, uploads, cjson.decode(images), 'status:' .. id)
    end
    write_post(Stem.status .. string.match(tag, '.*:') .. id, author, {
      [StatusField.TEXT] = text, [StatusField.HASHTAGS] = hashtags, [StatusField.MENTIONS] = mentions,
      [StatusField.IMAGES] = images, [StatusField.UNANNOUNCED] = is_hushed and '1' or '',
    })
    own[2 * i - 1], own[2 * i] = id, id
    listed[#listed + 1] = not is_hushed and {id, hashtags} or nil
  end
  redis.call('ZADD', profile, unpack(own))
  count_posts(user, profile, Stem.hidden .. tag)
  redis.call('HINCRBY', imported, author, #words / 4)
end

for_each_owner(posts, publish)
if #listed == 0 then
  return false
end
return {commit_job(jobs, minted, partition, 'import', {posts = listed})}
