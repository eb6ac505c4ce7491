-- Removes a deleted post, or an undone plain repost, from the homes of some members.
-- ARGV stems of following, home, home state, sources, newest; home size, home slack, oldest id kept,
--      post, its author, repost or '', first reposts; key suffix of each member...
-- Undoing a repost can list its original again, so the home is trimmed afterwards.
local stems = {unpack(ARGV, 1, 5)}
local size, slack, oldest = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local post, author, repost, earlier = unpack(ARGV, 9, 12)
for i = 13, #ARGV do
  local at = home_of(stems, ARGV[i])
  local floor = open_home(at, true)
  if floor and repost == '' then
    move(at, post, place_of(at, post), nil)
    redis.call('HDEL', at.sources, post)
  elseif floor then
    take_source(at, floor, post, author, repost, earlier)
    trim(at, size, slack, oldest)
  end
end
return 1
