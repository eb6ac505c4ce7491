-- Writes a home that was computed from the profiles of the followed members, and makes it ready.
-- KEYS: home, home_state, sources, candidates, newest, active.
-- ARGV: lift, member, changes, floor, day, home_size, home_slack, posts, reposted...
-- `lift` is as in `merge_home`. `changes` is the number of changes when the builder began, or '' to ignore changes.
-- `posts` are the listed posts without sources above the floor, separated by spaces. `reposted` is four arguments for
-- each other post: post, its id if that is a source or '', the place up to the floor or '', sources above the floor.
-- Returns 1; 0 when the home is ready or gone; -1 when it has changed by more than added posts.
local at = {
  member = member, home = home, state = home_state, sources = sources, candidates = candidates, newest = newest,
  lift = tonumber(lift),
}
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

-- Lists a post by the sources that were read, and by those delivered meanwhile.
local function add(post, own, below, read)
  local stored = redis.call('HGET', sources, post)
  local ids, texts, is_marked = sources_above(0, post, read)
  for id, who in each_source(stored) do
    is_marked = is_marked or id == post
    if id ~= post then
      ids, texts = sources_above(0, post, table.concat(texts, ' '), {added = id, reposter = who})
    end
  end
  local current = at.places[post]
  put(at, 0, post, current, {
    own = own, below = below, ids = ids, texts = texts, stored = stored,
    is_delivered = own and (is_marked or current == own),
  })
end

local has_sources = redis.call('EXISTS', sources) == 1
for post in string.gmatch(posts, '%d+') do
  local own = tonumber(post)
  if has_sources and redis.call('HEXISTS', sources, post) == 1 then
    add(post, own, own, post .. ':0')
  else
    move(at, post, at.places[post], own)
  end
end
for i = 1, #reposted, 4 do
  local post, own, below, read = unpack(reposted, i, i + 3)
  add(post, tonumber(own), tonumber(below), read)
end
store_home(at)
local highest = math.max(tonumber(floor), tonumber(floor_now))
if highest > 0 then
  raise_floor(at, highest)
end
trim(at, home_size, home_slack, 0)
return 1
