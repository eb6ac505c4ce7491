-- Shared by all scripts, after the prelude: how a home is stored, opened, changed and trimmed.
--
-- A home is six keys, which end in the same `tag`: hash tag and member.
--
-- `home` is a list. An entry is a post's id if that is its place, and `post:place` if a repost is its place.
-- Invariant: places ascend, each post is listed at most once, and no place is at or below the floor.
--
-- `sources` maps a post to the plain reposts of it by followed members, as far as they are above the floor. It has
-- every listed post whose place is not its own id. It also has posts whose place is at or below the floor: such a post
-- is listed when another repost lifts it, or when its place is gone. Before the reposts, `post:0` says that the post
-- itself was delivered, if a repost has lifted it from there.
--
-- `candidates` has the reposts that can be the place of a post for readers who add what big authors reposted.
--
-- `newest` is a buffer of entries to append to the list, each at its own id. It begins with a place that no entry of
-- the list is above. Place and entries are equally wide. So one MGET reads the ends of many homes, and one MSET appends
-- to them. Every other operation on a home first appends the buffer to the list and deletes `newest`.
local function home_of(tag, lift)
  return {
    member = string.match(tag, '%d+$'),
    following = Stem.following .. tag,
    home = Stem.home .. tag,
    state = Stem.home_state .. tag,
    sources = Stem.sources .. tag,
    candidates = Stem.candidates .. tag,
    newest = Stem.newest .. tag,
    lift = tonumber(lift),
  }
end

-- Returns the suffix of each key of a member: hash tag and id.
local function tag_of(member)
  return string.format('{%d}:%s', math.floor(tonumber(member) / 16) % 256, member)
end

local WIDTH = 17 -- a space and the largest id
local function wide(place)
  return string.format('%17.0f', place)
end

local function place_in(entry)
  return tonumber(entry) or tonumber(string.match(entry, ':(%d+)$'))
end

local function entry_of(post, place)
  return tonumber(post) == place and post or post .. ':' .. str(place)
end

-- Returns how many entries of a home are at or below a place, by binary search.
local function count_up_to(home, place)
  local low, high = 0, redis.call('LLEN', home)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if place_in(redis.call('LINDEX', home, middle)) <= place then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- Moves a post from one place to another; nil means not listed. In a loaded home, only `places` changes.
local function move(at, post, from, to)
  if from == to then
    return
  end
  if at.places then
    at.places[post], at.is_changed = to, true
  else
    if from then
      redis.call('LREM', at.home, -1, entry_of(post, from))
    end
    local last = to and redis.call('LINDEX', at.home, -1)
    if last and place_in(last) > to then
      local next = redis.call('LINDEX', at.home, count_up_to(at.home, to))
      redis.call('LINSERT', at.home, 'BEFORE', next, entry_of(post, to))
    elseif to then
      redis.call('RPUSH', at.home, entry_of(post, to))
    end
  end
end

-- Appends the entries of `newest` to the list, which has none above them. Returns the length of the list.
local function add_waiting(home, waiting)
  local posts = {}
  for post in string.gmatch(string.sub(waiting, WIDTH + 1), '%d+') do
    posts[#posts + 1] = post
  end
  return redis.call('RPUSH', home, unpack(posts))
end

-- Returns the beginning of `newest` for a home whose list has at most `most` entries. Returns a false value for a
-- longer list, and without a home. An empty list gets the newest post at once.
local function begin_waiting(home, state, post, most)
  local last = redis.call('LINDEX', home, -1)
  if last then
    return redis.call('LLEN', home) <= most and wide(place_in(last))
  end
  local floor = redis.call('HGET', state, HomeField.FLOOR)
  if floor and tonumber(floor) < tonumber(post) then
    redis.call('RPUSH', home, post)
    return wide(post)
  end
end

local function gather(at)
  local waiting = redis.call('GET', at.newest)
  if waiting then
    redis.call('DEL', at.newest)
    if #waiting > WIDTH then
      add_waiting(at.home, waiting)
    end
  end
end

-- Empties `newest` and returns the home's floor, nil without a home. `is_change` means that the caller will do more
-- than add a post: a builder that has read before must then read again.
local function open_home(at, is_change)
  gather(at)
  local state = redis.call('HMGET', at.state, HomeField.FLOOR, HomeField.BUILDING)
  if state[1] and state[2] and is_change then
    redis.call('HINCRBY', at.state, HomeField.CHANGED, 1)
  end
  return state[1] and tonumber(state[1])
end

-- Begins to build a home that is absent, or one that is ready if it is built `again`. Joins a build that another builder
-- may have given up. Returns the number of changes to the home since the build began, false for a home that is ready.
-- The number starts at the clock (us). A builder that read before the home was dropped and begun again by another
-- therefore sees that the build is not its own.
local function begin_building(state, again)
  local floor, building, changed =
    unpack(redis.call('HMGET', state, HomeField.FLOOR, HomeField.BUILDING, HomeField.CHANGED))
  if floor and building then
    return changed
  elseif floor and not again then
    return false
  end
  local time = redis.call('TIME')
  changed = str(tonumber(time[1]) * 1000000 + tonumber(time[2]))
  redis.call('HSET', state, HomeField.FLOOR, floor or 0, HomeField.BUILDING, 1, HomeField.CHANGED, changed)
  return changed
end

-- Loads a whole home into `places`. Later moves change only that table, until `store_home` writes it.
local function load_home(at)
  at.places = {}
  for _, entry in ipairs(redis.call('LRANGE', at.home, 0, -1)) do
    local place = tonumber(entry)
    if place then
      at.places[entry] = place
    else
      local post, repost = string.match(entry, '(%d+):(%d+)')
      at.places[post] = tonumber(repost)
    end
  end
end

local PUSHED = 1000 -- entries in one command
local function store_home(at)
  if not at.is_changed then
    return
  end
  local order, posts = {}, {}
  for post, place in pairs(at.places) do
    order[#order + 1] = place
    posts[place] = post
  end
  table.sort(order)
  redis.call('DEL', at.home)
  local entries = {}
  for i, place in ipairs(order) do
    entries[#entries + 1] = entry_of(posts[place], place)
    if #entries == PUSHED or i == #order then
      redis.call('RPUSH', at.home, unpack(entries))
      entries = {}
    end
  end
end

local function each_source(list)
  return string.gmatch(list or '', '(%d+):(%d+)')
end

-- Returns whether an entry is listed. Most are among the newest, and comparing 800 entries takes most of the time of a
-- repost's delivery.
local function is_listed(home, post, place)
  local most = 0 -- all
  for _, count in ipairs({50, 200}) do
    local entry = most == 0 and redis.call('LINDEX', home, -count)
    if entry and place_in(entry) <= place then
      most = count
    end
  end
  return redis.call('LPOS', home, entry_of(post, place), 'RANK', -1, 'MAXLEN', most)
end

-- Returns the place of a post, nil when it is not listed. `stored` is the text of its sources.
local function place_of(at, post, stored)
  if at.places then
    return at.places[post]
  end
  if is_listed(at.home, post, tonumber(post)) then
    return tonumber(post)
  end
  for id in each_source(stored) do
    if is_listed(at.home, post, tonumber(id)) then
      return tonumber(id)
    end
  end
  for _, entry in ipairs(stored and redis.call('LRANGE', at.home, 0, -1) or {}) do
    if string.find(entry, post .. ':', 1, true) == 1 then
      return place_in(entry) -- its place is a repost that is no longer a source
    end
  end
end

local DELIVERED = {} -- the change of a post's sources by its own delivery

-- Returns the reposts of a post above the floor: their ids and their texts, oldest first, and whether the post itself is
-- marked as delivered. `stored` is the text of its sources. A change may add the repost `change.added` by
-- `change.reposter`, or remove the repost `change.removed`.
local function sources_above(floor, post, stored, change)
  local ids, texts, is_marked = {}, {}, false
  local added, left_out = change and change.added, change and (change.added or change.removed)
  local function append(id, who)
    if tonumber(id) > floor then
      ids[#ids + 1] = tonumber(id)
      texts[#texts + 1] = id .. ':' .. who
    end
  end
  for id, who in each_source(stored) do
    if added and tonumber(id) > tonumber(added) then
      append(added, change.reposter)
      added = nil
    end
    if id == post then
      is_marked = true
    elseif id ~= left_out then
      append(id, who)
    end
  end
  if added then
    append(added, change.reposter)
  end
  return ids, texts, is_marked
end

local function set_sources(at, post, texts)
  if texts == '' then
    redis.call('HDEL', at.sources, post)
  else
    redis.call('HSET', at.sources, post, texts)
  end
end

-- Raises the floor and removes all entries at or below it. `count` is their number, if the caller knows it.
local function raise_floor(at, floor, count)
  redis.call('HSET', at.state, HomeField.FLOOR, str(floor))
  redis.call('ZREMRANGEBYSCORE', at.candidates, '-inf', str(floor))
  count = count or count_up_to(at.home, floor)
  if count == 0 then
    return
  end
  local gone = redis.call('EXISTS', at.sources) == 1 and redis.call('LRANGE', at.home, 0, count - 1) or {}
  redis.call('LTRIM', at.home, count, -1)
  for _, entry in ipairs(gone) do
    local post = string.match(entry, '%d+')
    local stored = redis.call('HGET', at.sources, post)
    if stored then
      local _, texts = sources_above(floor, post, stored)
      set_sources(at, post, table.concat(texts, ' '))
    end
  end
end

-- Trims the sources of posts that are not listed to the newest `most` posts. The floor rises to cover the others.
local function trim_sources(at, floor, most)
  local all, newest, below = redis.call('HGETALL', at.sources), {}, {}
  load_home(at)
  for i = 1, #all, 2 do
    local last = tonumber(string.match(all[i + 1], '(%d+):%d+$'))
    if not at.places[all[i]] then
      below[all[i]] = last
      newest[#newest + 1] = last
    end
  end
  at.places = nil
  table.sort(newest)
  local rises = #newest > most and newest[#newest - most] > floor
  floor = rises and newest[#newest - most] or floor
  for post, last in pairs(below) do
    if last <= floor then
      redis.call('HDEL', at.sources, post)
    end
  end
  if rises then
    raise_floor(at, floor)
  end
end

-- Trims a home of more than `size + slack` entries to the newest `size`, and removes entries at or below `oldest`.
-- The bounds are numbers or their texts.
local function trim(at, size, slack, oldest)
  size, slack, oldest = tonumber(size), tonumber(slack), tonumber(oldest)
  local surplus = redis.call('LLEN', at.home) - size
  if surplus > slack then
    raise_floor(at, place_in(redis.call('LINDEX', at.home, surplus - 1)), surplus)
  end
  local lowest = oldest > 0 and redis.call('LINDEX', at.home, 0)
  if lowest and place_in(lowest) <= oldest then
    raise_floor(at, oldest)
  end
  if redis.call('HLEN', at.sources) > 2 * (size + slack) then
    trim_sources(at, tonumber(redis.call('HGET', at.state, HomeField.FLOOR)), size)
  end
end
