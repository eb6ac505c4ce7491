-- Fans out one post to the homes of some followers, oldest follow first. Repeating it changes nothing.
-- KEYS: followers (of the deliverer).
-- ARGV: following_stem, home_stem, home_state_stem, sources_stem, newest_stem, home_size, home_slack,
--       oldest, newest_size, deliverer, post, author, repost (or ''), earlier_reposts, after, limit.
-- `oldest` is the highest id that is too old for a home, or 0. `newest_size` is the most entries in `newest`.
-- `author` wrote the post. The script begins after the edge `after`, and takes `limit` followers.
-- Returns the number of followers, and the last one's edge if there is any.
-- A home that does not exist is not begun.
-- Almost always the post is newer than every entry of a home. The script then appends it without reading any more.
local found = redis.call('ZRANGE', followers, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
if #found == 0 then
  return {0}
end
local stems = {
  following = following_stem, home = home_stem, state = home_state_stem, sources = sources_stem, newest = newest_stem,
}
local tags, keys = {}, {}
for i = 1, #found, 2 do
  local tag = tag_of(found[i])
  tags[#tags + 1] = tag
  keys[#keys + 1] = newest_stem .. tag
end
local is_newest, place = repost == '' and tonumber(oldest) == 0, wide(post)
local ends = is_newest and redis.call('MGET', unpack(keys)) or {}
local added, others = {}, {}
local slack = home_slack - (is_newest and newest_size or 0) -- entries in `newest` count, too
local most, widest = home_size + slack, (1 + newest_size) * WIDTH
for i, tag in ipairs(tags) do
  local waiting = ends[i]
  if waiting == false then
    waiting = begin_waiting(home_stem .. tag, home_state_stem .. tag, post, most)
  end
  if waiting == place then
    added[#added + 1] = keys[i]
    added[#added + 1] = place
  elseif waiting and string.sub(waiting, -WIDTH) < place then
    waiting = waiting .. place
    if #waiting > widest then
      if add_waiting(home_stem .. tag, waiting) > most then
        trim(home_of(stems, tag), home_size, slack, oldest)
      end
      waiting = place
    end
    added[#added + 1] = keys[i]
    added[#added + 1] = waiting
  else
    others[#others + 1] = tag
  end
end
if #added > 0 then
  redis.call('MSET', unpack(added))
end
for _, tag in ipairs(others) do
  local at = home_of(stems, tag)
  local floor = open_home(at, repost ~= '')
  if floor then
    if repost == '' then
      add_post(at, floor, post)
    else
      add_repost(at, floor, post, author, repost, deliverer, earlier_reposts)
    end
    trim(at, home_size, slack, oldest)
  end
end
return {#tags, found[#found]}
