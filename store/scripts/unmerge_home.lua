-- Takes what an unfollowed member brought out of one home, unless they are followed again.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; follower, unfollowed;
--      then post, its author, repost or '', first reposts; ...
local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[5])
local floor = open_home(at, true)
if not floor or redis.call('ZSCORE', at.following, ARGV[6]) then
  return 0
end
for i = 7, #ARGV, 4 do
  if ARGV[i + 2] == '' then
    settle(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 3])
  else
    take_source(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
  end
end
return 1
