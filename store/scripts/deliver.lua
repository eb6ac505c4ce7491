-- Brings one post to the homes of some followers. Repeating it changes nothing.
-- KEYS followers of the deliverer
-- ARGV stems of following, home, home state, sources, newest; home size, home slack, oldest id kept, most that wait;
--      deliverer, post, its author, repost or '', earlier reposts; followers..., then `newest` of each...
-- An edge that has ended brings nothing; a home that does not exist is not begun.
-- Almost always the post is newer than all that a home has, and goes to its end: no more is looked at then.
local FIRST = 15
local stems = {unpack(ARGV, 1, 5)}
local size, slack, oldest, most = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local deliverer, post, author, repost, earlier = unpack(ARGV, 10, 14)
local count, sub = (#ARGV - FIRST + 1) / 2, string.sub
local is_newest, place = repost == '' and oldest == 0, wide(post)
local edges = redis.call('ZMSCORE', KEYS[1], unpack(ARGV, FIRST, FIRST + count - 1))
local ends = is_newest and redis.call('MGET', unpack(ARGV, FIRST + count)) or {}
local added, others = {}, {}
if is_newest then
  slack = slack - most -- those that wait count, too
end
for i, edge in ipairs(edges) do
  local waiting, key = ends[i], ARGV[FIRST + count + i - 1]
  if edge and waiting == false then
    local tag = sub(key, #stems[5] + 1)
    waiting = begin_waiting(stems[2] .. tag, stems[3] .. tag, post, size + slack)
  end
  if waiting == place then
    added[#added + 1] = key
    added[#added + 1] = place
  elseif edge and waiting and sub(waiting, -WIDTH) < place then
    waiting = waiting .. place
    if #waiting > (1 + most) * WIDTH then
      local tag = sub(key, #stems[5] + 1)
      if add_waiting(stems[2] .. tag, waiting) > size + slack then
        trim(home_of(stems, tag), size, slack, oldest)
      end
      waiting = place
    end
    added[#added + 1] = key
    added[#added + 1] = waiting
  elseif edge then
    others[#others + 1] = sub(key, #stems[5] + 1)
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
return 1
