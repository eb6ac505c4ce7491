-- Writes a home that was computed from the profiles of the followed members, and makes it ready.
-- KEYS: home, home_state, sources, newest, active.
-- ARGV: member, changes, floor, day, home_size, home_slack, entries, sources_by_post...
-- `changes` is the number of changes when the builder began, or '' to ignore changes.
-- `entries` has 'post' or 'post:place' for each entry, separated by spaces.
-- `sources_by_post` are pairs of a post and its sources.
-- Returns 1; 0 when the home is ready or gone; -1 when it has changed by more than added posts.
local at = {member = member, home = home, state = home_state, sources = sources, newest = newest}
local building, changes_now, floor_now =
  unpack(redis.call('HMGET', home_state, HomeField.BUILDING, HomeField.CHANGED, HomeField.FLOOR))
if not building then
  return 0
end
if changes ~= '' and changes_now ~= changes then
  return -1
end
redis.call('HDEL', home_state, HomeField.BUILDING, HomeField.CHANGED)
redis.call('ZADD', active, day, member)
gather(at)
load_home(at)
local is_listed = {}
for post, repost in string.gmatch(entries, '(%d+):?(%d*)') do
  local current, place = at.places[post], tonumber(repost) or tonumber(post)
  move(at, post, current, math.min(current or place, place))
  is_listed[post] = true
end
for i = 1, #sources_by_post, 2 do
  local post, written = sources_by_post[i], sources_by_post[i + 1]
  if not is_listed[post] then
    -- A later repost listed the post while this home was being built, but its first source is below the floor.
    move(at, post, at.places[post], nil)
  end
  if redis.call('HEXISTS', sources, post) == 0 then
    redis.call('HSET', sources, post, written)
  else
    for repost, reposter in each_source(written) do
      add_source(at, post, repost, reposter)
    end
  end
end
store_home(at)
local highest = math.max(tonumber(floor), tonumber(floor_now))
if highest > 0 then
  raise_floor(at, highest)
end
trim(at, home_size, home_slack, 0)
return 1
