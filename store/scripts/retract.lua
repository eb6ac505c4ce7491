-- Takes a deleted post, or an undone plain repost, out of the homes of some members, all of one partition.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack, oldest id kept,
--      post, its author, repost or '', first reposts; members...
-- What comes up again by that may fill a home.
local size, slack, oldest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local post, author, repost, earlier = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
for i = 12, #ARGV do
  local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[i])
  local floor = open_home(at, true)
  if floor and repost == '' then
    redis.call('ZREM', at.home, post)
    redis.call('HDEL', at.sources, post)
  elseif floor then
    take_source(at, floor, post, author, repost, earlier)
    trim(at, size, slack, oldest)
  end
end
return 1
