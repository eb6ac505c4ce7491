-- Writes homes of one partition that were computed from profiles without reposts, where nothing was delivered meanwhile.
-- KEYS: active.
-- ARGV: day, homes... (of each member: the member, 3, `changes` and `floor` as in `write_home`, the posts in order).
-- Returns the places in `homes` of the members whose homes hold something already. `write_home` writes them.
local left = {}

local function write(tag, changes, floor, posts)
  local state, home = Stem.home_state .. tag, Stem.home .. tag
  local found = redis.call('HMGET', state, HomeField.BUILDING, HomeField.CHANGED, HomeField.FLOOR)
  if not found[1] or found[2] ~= changes or found[3] ~= '0'
    or redis.call('EXISTS', home, Stem.newest .. tag, Stem.sources .. tag, Stem.candidates .. tag) > 0 then
    return false
  end
  local listed = {}
  for post in string.gmatch(posts, '%d+') do
    listed[#listed + 1] = post
  end
  for i = 1, #listed, 1000 do
    redis.call('RPUSH', home, unpack(listed, i, math.min(i + 999, #listed)))
  end
  redis.call('HDEL', state, HomeField.BUILDING, HomeField.CHANGED)
  if floor ~= '0' then
    redis.call('HSET', state, HomeField.FLOOR, floor)
  end
  return true
end

local read = {}
for i = 1, #homes, 5 do
  if write(tag_of(homes[i]), homes[i + 2], homes[i + 3], homes[i + 4]) then
    read[#read + 1] = day
    read[#read + 1] = homes[i]
  else
    left[#left + 1] = i - 1
  end
end
if #read > 0 then
  redis.call('ZADD', active, unpack(read))
end
return left
