-- Brings the posts of a newly followed member into one home, as long as that very follow stands.
-- KEYS any key of the partition
-- ARGV prefixes of following, home, home state, sources; home size, home slack,
--      follower, followed, edge, horizon; then post, its author, repost or '', earlier reposts; ...
-- Below `horizon` the followed member's profile was not read, so the home cannot be complete there.
local at = home_of({ARGV[1], ARGV[2], ARGV[3], ARGV[4]}, ARGV[7])
local size, slack, horizon = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[10])
local floor = tonumber(redis.call('HGET', at.state, 'floor') or '-1')
local edge = redis.call('ZSCORE', at.following, ARGV[8])
if floor < 0 or not edge or tonumber(edge) ~= tonumber(ARGV[9]) then
  return 0
end
if horizon > floor then
  local gone = redis.call('ZRANGEBYSCORE', at.home, '-inf', ARGV[10])
  for _, post in ipairs(gone) do
    redis.call('HDEL', at.sources, post)
  end
  redis.call('ZREMRANGEBYSCORE', at.home, '-inf', ARGV[10])
  redis.call('HSET', at.state, 'floor', ARGV[10])
  floor = horizon
end
-- What the new follow's author wrote moves to its own place, and what fell below the floor by that goes.
for i = 11, #ARGV, 4 do
  local post, author, repost, earlier = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if repost == '' then
    if tonumber(post) > floor then
      bring(at, floor, post)
    else
      redis.call('ZREM', at.home, post)
      redis.call('HDEL', at.sources, post)
    end
  else
    bring_repost(at, floor, post, author, repost, ARGV[8], earlier ~= '' and earlier or nil)
  end
end
trim(at, size, slack)
return 1
