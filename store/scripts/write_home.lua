-- Adds to a home being built what was computed from the profiles of those its owner follows, and makes it ready.
-- KEYS home, home state, sources, scratch, active
-- ARGV member, changes when the builder began, or '' to write whatever has changed; floor, day; home size, home slack,
--      entries as 'post' or 'post:place' separated by spaces, then post, its sources, ...
-- Returns 1; 0 when the home is ready or gone; -1 when it has changed in another way than by posts added.
local state = redis.call('HMGET', KEYS[2], 'building', 'changed', 'floor')
if not state[1] then
  return 0
end
if ARGV[2] ~= '' and state[2] ~= ARGV[2] then
  return -1
end
redis.call('HDEL', KEYS[2], 'building', 'changed')
redis.call('ZADD', KEYS[5], ARGV[4], ARGV[1])
-- A sorted set as small as a home is kept as a list, which is searched from its beginning for every entry added:
-- 800 of them take eight times as long as in a skip list that becomes a list at the end. A member too long for the
-- list makes it a skip list.
local long = string.rep('-', 65)
redis.call('ZADD', KEYS[4], 0, long)
local pairs_, stands = {}, {}
for post, place in string.gmatch(ARGV[7], '(%d+):?(%d*)') do
  pairs_[#pairs_ + 1] = place == '' and post or place
  pairs_[#pairs_ + 1] = post
  stands[post] = true
  if #pairs_ == 2000 then
    redis.call('ZADD', KEYS[4], unpack(pairs_))
    pairs_ = {}
  end
end
if #pairs_ > 0 then
  redis.call('ZADD', KEYS[4], unpack(pairs_))
end
redis.call('ZREM', KEYS[4], long)
redis.call('ZUNIONSTORE', KEYS[1], 2, KEYS[1], KEYS[4], 'AGGREGATE', 'MIN')
redis.call('DEL', KEYS[4])
local at = {member = ARGV[1], home = KEYS[1], state = KEYS[2], sources = KEYS[3]}
for i = 8, #ARGV, 2 do
  if not stands[ARGV[i]] then
    redis.call('ZREM', KEYS[1], ARGV[i]) -- a repost has just brought it, which is not its first: it stands below the floor
  end
  if redis.call('HEXISTS', KEYS[3], ARGV[i]) == 0 then
    redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
  else
    for repost, reposter in each_source(ARGV[i + 1]) do
      add_source(at, ARGV[i], repost, reposter)
    end
  end
end
local floor = math.max(tonumber(ARGV[3]), tonumber(state[3]))
if floor > 0 then
  raise_floor(at, floor)
end
trim(at, tonumber(ARGV[5]), tonumber(ARGV[6]), 0)
return 1
