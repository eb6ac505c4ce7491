-- Writes a home that was computed from the profiles of the followed members, and makes it ready.
-- KEYS home, home state, sources, newest, active
-- ARGV member, changes when the builder began, or '' to ignore changes; floor, day; home size, home slack,
--      entries as 'post' or 'post:place' separated by spaces, then post, its sources, ...
-- Returns 1; 0 when the home is ready or gone; -1 when it has changed by more than added posts.
local at = {member = ARGV[1], home = KEYS[1], state = KEYS[2], sources = KEYS[3], newest = KEYS[4]}
local state = redis.call('HMGET', at.state, 'building', 'changed', 'floor')
if not state[1] then
  return 0
end
if ARGV[2] ~= '' and state[2] ~= ARGV[2] then
  return -1
end
redis.call('HDEL', at.state, 'building', 'changed')
redis.call('ZADD', KEYS[5], ARGV[4], at.member)
gather(at)
load_home(at)
local stands = {}
for post, brought in string.gmatch(ARGV[7], '(%d+):?(%d*)') do
  local stood, place = at.places[post], tonumber(brought) or tonumber(post)
  move(at, post, stood, math.min(stood or place, place))
  stands[post] = true
end
for i = 8, #ARGV, 2 do
  if not stands[ARGV[i]] then
    -- A later repost listed the post while this home was being built, but its first source is below the floor.
    move(at, ARGV[i], at.places[ARGV[i]], nil)
  end
  if redis.call('HEXISTS', at.sources, ARGV[i]) == 0 then
    redis.call('HSET', at.sources, ARGV[i], ARGV[i + 1])
  else
    for repost, reposter in each_source(ARGV[i + 1]) do
      add_source(at, ARGV[i], repost, reposter)
    end
  end
end
store_home(at)
local floor = math.max(tonumber(ARGV[3]), tonumber(state[3]))
if floor > 0 then
  raise_floor(at, floor)
end
trim(at, tonumber(ARGV[5]), tonumber(ARGV[6]), 0)
return 1
