-- Writes homes of one partition that were computed from profiles without reposts, where nothing was delivered meanwhile.
-- KEYS: active.
-- ARGV: day, homes... (of each member: the member, 3, `changes` and `floor` as in `write_home`, the number of posts).
-- The posts are in the member's draft, which becomes the home: a script would take more than twice as long to copy them.
-- Returns the places in `homes` of the members whose homes hold something already. `write_home` writes them.
local left, read = {}, {}

local function write(tag, changes, floor, count)
  local state, home, draft = Stem.home_state .. tag, Stem.home .. tag, Stem.home_draft .. tag
  local found = redis.call('HMGET', state, HomeField.BUILDING, HomeField.CHANGED, HomeField.FLOOR)
  if not found[1] or found[2] ~= changes or found[3] ~= '0' or redis.call('LLEN', draft) ~= tonumber(count)
    or redis.call('EXISTS', home, Stem.newest .. tag, Stem.sources .. tag, Stem.candidates .. tag) > 0 then
    return false
  end
  if count ~= '0' then
    redis.call('RENAME', draft, home)
    redis.call('PERSIST', home)
  end
  redis.call('HDEL', state, HomeField.BUILDING, HomeField.CHANGED)
  if floor ~= '0' then
    redis.call('HSET', state, HomeField.FLOOR, floor)
  end
  return true
end

for i = 1, #homes, 5 do
  if write(tag_of(homes[i]), unpack(homes, i + 2, i + 4)) then
    read[#read + 1] = day
    read[#read + 1] = homes[i]
  else
    redis.call('DEL', Stem.home_draft .. tag_of(homes[i]))
    left[#left + 1] = i - 1
  end
end
if #read > 0 then
  redis.call('ZADD', active, unpack(read))
end
return left
