-- Fans out one post to the homes of some followers, oldest follow first. Repeating it changes nothing.
-- KEYS followers of the deliverer
-- ARGV stems of following, home, home state, sources, newest; home size, home slack, oldest id kept,
--      most entries in newest; deliverer, post, its author, repost or '', earlier reposts;
--      edge after which to begin, most followers
-- Returns the number of followers, and the last one's edge if there is any.
-- A home that does not exist is not begun.
-- Almost always the post is newer than every entry of a home. The script then appends it without reading any more.
local stems = {unpack(ARGV, 1, 5)}
local size, slack, oldest, most = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local deliverer, post, author, repost, earlier, after, count = unpack(ARGV, 10, 16)
local is_newest, place = repost == '' and oldest == 0, wide(post)
local found = redis.call('ZRANGE', KEYS[1], '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, count, 'WITHSCORES')
if #found == 0 then
  return {0}
end
local tags, keys = {}, {}
for i = 1, #found, 2 do
  local tag = tag_of(found[i])
  tags[#tags + 1] = tag
  keys[#keys + 1] = stems[5] .. tag
end
local ends = is_newest and redis.call('MGET', unpack(keys)) or {}
local added, others = {}, {}
if is_newest then
  slack = slack - most -- entries in `newest` count, too
end
for i, tag in ipairs(tags) do
  local waiting = ends[i]
  if waiting == false then
    waiting = begin_waiting(stems[2] .. tag, stems[3] .. tag, post, size + slack)
  end
  if waiting == place then
    added[#added + 1] = keys[i]
    added[#added + 1] = place
  elseif waiting and string.sub(waiting, -WIDTH) < place then
    waiting = waiting .. place
    if #waiting > (1 + most) * WIDTH then
      if add_waiting(stems[2] .. tag, waiting) > size + slack then
        trim(home_of(stems, tag), size, slack, oldest)
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
      bring(at, floor, post)
    else
      bring_repost(at, floor, post, author, repost, deliverer, earlier)
    end
    trim(at, size, slack, oldest)
  end
end
return {#tags, found[#found]}
