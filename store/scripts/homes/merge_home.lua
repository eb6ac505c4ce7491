-- Adds the posts of a newly followed member to one home, unless that follow has ended or been replaced.
-- KEYS: following, home, home_state, sources, candidates, newest.
-- ARGV: lift, home_size, home_slack, oldest, follower, followed, edge, horizon, entries...
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0.
-- An entry is four arguments: post, its author, repost (or ''), earlier reposts.
-- The followed member's profile was read down to `horizon`. Below it the home may be incomplete, so the floor rises.
local at = {
  member = follower, following = following, home = home, state = home_state, sources = sources,
  candidates = candidates, newest = newest, lift = tonumber(lift),
}
local floor, present = open_home(at, true), redis.call('ZSCORE', following, followed)
if not floor or not present or tonumber(present) ~= tonumber(edge) then
  return 0
end
if tonumber(horizon) > floor then
  floor = tonumber(horizon)
  raise_floor(at, floor)
end
load_home(at)
for i = 1, #entries, 4 do
  local post, author, repost, earlier_reposts = unpack(entries, i, i + 3)
  if repost ~= '' then
    add_repost(at, floor, post, author, repost, followed, earlier_reposts)
  elseif author == followed and tonumber(post) > floor then
    add_post(at, floor, post, author)
  else
    settle(at, floor, post, author, earlier_reposts)
  end
end
store_home(at)
trim(at, home_size, home_slack, oldest)
return 1
