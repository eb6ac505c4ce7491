-- Adds the posts of a newly followed member to one home, unless that follow has ended or been replaced.
-- KEYS following, home, home state, sources, newest
-- ARGV home size, home slack, oldest id kept, follower, followed, edge, horizon;
--      then post, its author, repost or '', earlier reposts; ...
-- The followed member's profile was read down to `horizon`. Below it the home may be incomplete, so the floor rises.
local at = {
  member = ARGV[4], following = KEYS[1], home = KEYS[2], state = KEYS[3], sources = KEYS[4], newest = KEYS[5],
}
local followed, horizon = ARGV[5], tonumber(ARGV[7])
local floor, edge = open_home(at, true), redis.call('ZSCORE', at.following, followed)
if not floor or not edge or tonumber(edge) ~= tonumber(ARGV[6]) then
  return 0
end
if horizon > floor then
  raise_floor(at, horizon)
  floor = horizon
end
load_home(at)
for i = 8, #ARGV, 4 do
  if ARGV[i + 2] == '' then
    bring(at, floor, ARGV[i])
  else
    bring_repost(at, floor, ARGV[i], ARGV[i + 1], ARGV[i + 2], followed, ARGV[i + 3])
  end
end
store_home(at)
trim(at, tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return 1
