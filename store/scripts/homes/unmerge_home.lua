-- Removes an unfollowed member's posts and reposts from one home, unless the member is followed again.
-- KEYS: following, home, home_state, sources, candidates, newest, unmerged.
-- ARGV: lift, home_size, home_slack, oldest, follower, unfollowed, token, entries...
-- `oldest` is the highest id that is too old for a home, or 0. A repost lifts a post if it is more than `lift` after
-- its place, unless `lift` is 0. `token` is random: deliveries under way see by it that
-- they have to check their followers.
-- An entry is four arguments: post, its author, repost (or ''), earlier reposts.
local at = {
  member = follower, following = following, home = home, state = home_state, sources = sources,
  candidates = candidates, newest = newest, lift = tonumber(lift),
}
redis.call('SET', unmerged, token)
local floor = open_home(at, true)
if not floor or redis.call('ZSCORE', following, unfollowed) then
  return 0
end
load_home(at)
for i = 1, #entries, 4 do
  local post, author, repost, earlier_reposts = unpack(entries, i, i + 3)
  if repost == '' then
    settle(at, floor, post, author, earlier_reposts)
  else
    take_source(at, floor, post, author, repost, earlier_reposts)
  end
end
store_home(at)
trim(at, home_size, home_slack, oldest)
return 1
