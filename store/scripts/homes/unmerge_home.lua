-- Removes an unfollowed member's posts and reposts from one home, unless the member is followed again.
-- KEYS following, home, home state, sources, newest
-- ARGV home size, home slack, oldest id kept, follower, unfollowed;
--      then post, its author, repost or '', first reposts; ...
local at = {
  member = ARGV[4], following = KEYS[1], home = KEYS[2], state = KEYS[3], sources = KEYS[4], newest = KEYS[5],
}
local floor = open_home(at, true)
if not floor or redis.call('ZSCORE', at.following, ARGV[5]) then
  return 0
end
load_home(at)
for i = 6, #ARGV, 4 do
  if ARGV[i + 2] == '' then
    settle(at, floor, ARGV[i], place_of(at, ARGV[i]), ARGV[i + 1], ARGV[i + 3])
  else
    take_source(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
  end
end
store_home(at)
trim(at, tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return 1
