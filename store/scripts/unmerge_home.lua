-- Takes what an unfollowed member brought out of one home, unless they are followed again.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack, oldest id kept, follower, unfollowed;
--      then post, its author, repost or '', first reposts; ...
local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[8])
local floor = open_home(at, true)
if not floor or redis.call('ZSCORE', at.following, ARGV[9]) then
  return 0
end
for i = 10, #ARGV, 4 do
  if ARGV[i + 2] == '' then
    settle(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 3])
  else
    take_source(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
  end
end
trim(at, tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]))
return 1
