-- Brings the posts of a newly followed member into one home, as long as that very follow stands.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack, oldest id kept,
--      follower, followed, edge, horizon; then post, its author, repost or '', earlier reposts; ...
-- Below `horizon` the followed member's profile was not read, so the home cannot be complete there.
local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[8])
local horizon = tonumber(ARGV[11])
local floor, edge = open_home(at, true), redis.call('ZSCORE', at.following, ARGV[9])
if not floor or not edge or tonumber(edge) ~= tonumber(ARGV[10]) then
  return 0
end
if horizon > floor then
  raise_floor(at, horizon)
  floor = horizon
end
for i = 12, #ARGV, 4 do
  if ARGV[i + 2] == '' then
    bring(at, floor, ARGV[i])
  else
    bring_repost(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[9], ARGV[i + 3])
  end
end
trim(at, tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]))
return 1
