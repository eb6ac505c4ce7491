-- Shared by all scripts: the loader puts what a script uses of it before that.

local EPOCH = 1704067200000 -- ms: 2024-01-01T00:00:00Z

-- Ids exceed what tostring() prints exactly.
local function str(number)
  return string.format('%.0f', number)
end

-- Unique and growing within the partition, also when the clock steps back. What answers a thing of another partition
-- comes at least a millisecond after it, so that no list shows the answer first.
local function mint(key, partition, answered)
  local time = redis.call('TIME')
  local now = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - EPOCH) * 16
  local last = tonumber(redis.call('GET', key) or '0')
  local tick = math.max(now, last + 1)
  if answered and answered ~= '' then
    tick = math.max(tick, (math.floor(tonumber(answered) / 4096) + 1) * 16)
  end
  redis.call('SET', key, str(tick))
  return math.floor(tick / 16) * 4096 + tonumber(partition) * 16 + tick % 16
end

-- Records work in the step that makes it necessary. The committer is the job's first worker: it is delivered at
-- once, so another worker sees it only after the lease has run out.
local function commit(stream, id, kind, body)
  redis.call('XADD', stream, str(id) .. '-0', 'kind', kind, 'body', body)
  local read = redis.pcall('XREADGROUP', 'GROUP', 'workers', 'perch', 'STREAMS', stream, '>')
  if read.err then
    redis.call('XGROUP', 'CREATE', stream, 'workers', '0')
    redis.call('XREADGROUP', 'GROUP', 'workers', 'perch', 'STREAMS', stream, '>')
  end
end

-- Makes a job wait for any worker instead of its committer.
local function leave(stream, id)
  redis.call('XCLAIM', stream, 'workers', 'perch', 0, str(id) .. '-0', 'IDLE', 86400000, 'JUSTID')
end

-- Sets a member's number of posts: what is hidden does not count.
local function count_posts(user, profile, hidden)
  redis.call('HSET', user, 'posts', redis.call('ZCARD', profile) - redis.call('ZCARD', hidden))
end

-- Returns which set of names a member stands in: 0 below 8 followers, one more for each doubling. Who falls back keeps
-- their place down to three quarters of what it takes, so that one who comes and goes at the edge makes no work.
local MAGNITUDES = 24
local function magnitude_of(followers, known)
  local is = 0
  while followers >= 8 * 2 ^ is and is < MAGNITUDES - 1 do
    is = is + 1
  end
  return known > is and followers >= 3 * 2 ^ known and known or is
end

-- Notes a member's magnitude where it has changed, with the job that moves their names.
local function settle_magnitude(user, stream, minted, partition, member)
  local known = tonumber(redis.call('HGET', user, 'magnitude') or '0')
  local is = magnitude_of(tonumber(redis.call('HGET', user, 'followers')), known)
  if is ~= known then
    redis.call('HSET', user, 'magnitude', is)
    local id = mint(minted, partition)
    commit(stream, id, 'index', cjson.encode({member = member}))
    leave(stream, id)
  end
end

-- Sets a member's number of followers, and begins what crossing the threshold of big authors takes. `reach` is the
-- state and the job that made it: absent (small), growing, big (no longer pushed to followers), shrinking.
local function weigh(user, stream, minted, partition, member, followers, threshold)
  redis.call('HSET', user, 'followers', followers)
  settle_magnitude(user, stream, minted, partition, member)
  local reach = string.match(redis.call('HGET', user, 'reach') or '', '%a+') or 'small'
  local is_big, kind = reach == 'growing' or reach == 'big', nil
  if not is_big and followers >= tonumber(threshold) then
    kind = 'grow'
  elseif is_big and followers < tonumber(threshold) * 0.9 then
    kind = 'shrink'
  else
    return
  end
  local id = mint(minted, partition)
  redis.call('HSET', user, 'reach', (kind == 'grow' and 'growing:' or 'shrinking:') .. str(id))
  commit(stream, id, kind, cjson.encode({member = member}))
  leave(stream, id)
end

-- Tells that the numbers of a post have changed: those who watch it now, and a second later what ranks it. An earlier
-- note stands, so that a post is ranked at most once a second; one that a worker has leased is overruled.
local RESCORE_AFTER = 1000 -- ms
local function changed(channel, rescore, post)
  redis.call('PUBLISH', channel, '')
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('ZADD', rescore, 'LT', str(now + RESCORE_AFTER), post)
end

-- A home is five keys; `tag` is what ends each of them, hash tag and member.
--
-- `home` is a list: a post's id where it stands at its own id, `post:place` where a repost has brought it. Invariant:
-- places ascend, each post is there at most once, and nothing at or below the floor. `sources` has, of every post, the
-- plain reposts by followed members that are above the floor: of all that stand elsewhere than at their own id, and also
-- of posts that stand at or below the floor, so that such a post comes up again when what brought it first is gone.
--
-- `newest` has entries that are still to be added to the list, each at its own id, after a place that no entry of the
-- list is above; all of them equally wide. So one command looks at the ends of many homes, and another adds
-- to them. Whatever else is done to a home begins with adding these to the list, and removing `newest`.
local function home_of(stems, tag)
  return {
    member = string.match(tag, '%d+$'),
    following = stems[1] .. tag,
    home = stems[2] .. tag,
    state = stems[3] .. tag,
    sources = stems[4] .. tag,
    newest = stems[5] .. tag,
  }
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

-- Returns how many entries of a home stand at or below a place.
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

-- Puts a post, which stands at `from` or nowhere (nil), where it belongs.
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

-- Adds what has waited in `newest` to the list; returns how many entries that has then.
local function add_waiting(home, waiting)
  local posts = {}
  for post in string.gmatch(string.sub(waiting, WIDTH + 1), '%d+') do
    posts[#posts + 1] = post
  end
  local last = redis.call('LINDEX', home, '-1')
  if not last or place_in(last) < tonumber(posts[1]) then
    return redis.call('RPUSH', home, unpack(posts))
  end
  for _, post in ipairs(posts) do
    move({home = home}, post, nil, tonumber(post))
  end
  return redis.call('LLEN', home)
end

-- Returns how `newest` begins for a list with room for entries that wait; false where there is none.
local function begin_waiting(home, most)
  local last = redis.call('LINDEX', home, -1)
  return last and redis.call('LLEN', home) <= most and wide(place_in(last))
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

-- Returns the floor, nil without a home. `is_change` says that what is about to be done is more than adding a post:
-- a builder that has read before it must read again.
local function open_home(at, is_change)
  gather(at)
  local state = redis.call('HMGET', at.state, 'floor', 'building')
  if state[1] and state[2] and is_change then
    redis.call('HINCRBY', at.state, 'changed', 1)
  end
  return state[1] and tonumber(state[1])
end

-- Reads a whole home, so that what follows changes `places`, post by post, until it is stored.
local function load_home(at)
  at.places = {}
  for _, entry in ipairs(redis.call('LRANGE', at.home, 0, -1)) do
    local place = tonumber(entry)
    if place then
      at.places[entry] = place
    else
      local post, brought = string.match(entry, '(%d+):(%d+)')
      at.places[post] = tonumber(brought)
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

-- Returns where a post stands, nil where it does not.
local function place_of(at, post)
  if at.places then
    return at.places[post]
  end
  if redis.call('LPOS', at.home, post, 'RANK', -1) then
    return tonumber(post)
  end
  local first = each_source(redis.call('HGET', at.sources, post))()
  if first and redis.call('LPOS', at.home, post .. ':' .. first, 'RANK', -1) then
    return tonumber(first)
  end
  for _, entry in ipairs(first and redis.call('LRANGE', at.home, 0, -1) or {}) do
    if string.find(entry, post .. ':', 1, true) == 1 then
      return place_in(entry) -- a repost that is a source no more had brought it
    end
  end
end

-- Returns the sources of a post that are above the floor, and the first one of them.
local function sources_above(at, floor, post)
  local kept, first = {}, nil
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if tonumber(id) > floor then
      first = first or id
      kept[#kept + 1] = id .. ':' .. who
    end
  end
  return kept, first
end

local function set_sources(at, post, list)
  if #list == 0 then
    redis.call('HDEL', at.sources, post)
  else
    redis.call('HSET', at.sources, post, table.concat(list, ' '))
  end
end

-- Lets nothing stand at or below a floor; `count` entries do, where that is known.
local function raise_floor(at, floor, count)
  redis.call('HSET', at.state, 'floor', str(floor))
  count = count or count_up_to(at.home, floor)
  if count == 0 then
    return
  end
  local gone = redis.call('EXISTS', at.sources) == 1 and redis.call('LRANGE', at.home, 0, count - 1) or {}
  redis.call('LTRIM', at.home, count, -1)
  for _, entry in ipairs(gone) do
    local post = string.match(entry, '%d+')
    if redis.call('HEXISTS', at.sources, post) == 1 then
      set_sources(at, post, (sources_above(at, floor, post)))
    end
  end
end

-- Bounds the sources of posts below the floor: of more than `most` the oldest go, and the floor rises above them.
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

-- Keeps the newest `size` once there are more than `size + slack`, and nothing at or below `oldest`.
local function trim(at, size, slack, oldest)
  local surplus = redis.call('LLEN', at.home) - size
  if surplus > slack then
    raise_floor(at, place_in(redis.call('LINDEX', at.home, surplus - 1)), surplus)
  end
  local lowest = oldest > 0 and redis.call('LINDEX', at.home, 0)
  if lowest and place_in(lowest) <= oldest then
    raise_floor(at, oldest)
  end
  if redis.call('HLEN', at.sources) > 2 * (size + slack) then
    trim_sources(at, tonumber(redis.call('HGET', at.state, 'floor')), size)
  end
end

-- Whether the member has posts of this author by themselves, without anybody's repost.
local function has_author(at, author)
  return author == at.member or redis.call('ZSCORE', at.following, author)
end

-- Whether somebody followed had passed a post on at or below the floor. `earlier` are its first reposts.
local function was_passed_below(at, floor, earlier)
  for id, who in each_source(floor > 0 and earlier or '') do
    if tonumber(id) > floor then
      return false
    elseif redis.call('ZSCORE', at.following, who) then
      return true
    end
  end
  return false
end

-- Inserts `repost:author` into the list of a post's sources, oldest first. Repeating it changes nothing.
local function add_source(at, post, repost, reposter)
  local entries, placed = {}, false
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id == repost then
      return
    end
    if not placed and tonumber(id) > tonumber(repost) then
      entries[#entries + 1] = repost .. ':' .. reposter
      placed = true
    end
    entries[#entries + 1] = id .. ':' .. who
  end
  if not placed then
    entries[#entries + 1] = repost .. ':' .. reposter
  end
  set_sources(at, post, entries)
end

-- A status or quote whose author the member has: it stands at its own id, wherever a repost had put it.
local function bring(at, floor, post)
  local own = tonumber(post)
  move(at, post, place_of(at, post), own > floor and own or nil)
end

-- A plain repost by somebody the member has. Where its author is followed too, the post stands at its own id, to which
-- what brings the author's posts puts it, or a reader who pulls them; else at the first repost that brings it; where
-- that is at or below the floor, the home has already shown it.
local function bring_repost(at, floor, post, author, repost, reposter, earlier)
  local has, stands, place = has_author(at, author), place_of(at, post), tonumber(repost)
  if place <= floor then
    if stands and not has then
      move(at, post, stands, nil)
    end
    return
  end
  local _, first = sources_above(at, floor, post)
  add_source(at, post, repost, reposter)
  if not has and (stands or not first and not was_passed_below(at, floor, earlier)) then
    -- Not in the home and yet with sources: it stands below the floor.
    move(at, post, stands, math.min(stands or place, place))
  end
end

-- Puts a post, which stands at `stands`, where it belongs after something that brought it is gone: its author's follow,
-- or a repost.
local function settle(at, floor, post, stands, author, earlier)
  local _, first = sources_above(at, floor, post)
  if has_author(at, author) then
    if not first and stands and stands ~= tonumber(post) then
      move(at, post, stands, nil) -- a repost had brought it before its author, whose posts are pulled, was followed
    end
  elseif not first then
    move(at, post, stands, nil)
    redis.call('HDEL', at.sources, post)
  elseif stands or not was_passed_below(at, floor, earlier) then
    move(at, post, stands, tonumber(first))
  end
end

-- Takes one repost away as a source of a post.
local function take_source(at, floor, post, author, repost, earlier)
  local entries, stands = {}, place_of(at, post)
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id ~= repost then
      entries[#entries + 1] = id .. ':' .. who
    end
  end
  set_sources(at, post, entries)
  settle(at, floor, post, stands, author, earlier)
end
