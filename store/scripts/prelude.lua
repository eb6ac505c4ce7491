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

-- A home is four keys; `at` names the member they belong to.
--
-- What holds of it: a post stands in `home` at the id that brings it, if that is above the floor. `sources` has, of
-- every post, the plain reposts by followed members that are above the floor; also of posts that stand at or below it,
-- so that such a post comes up again when what brought it first is gone.
local function home_of(prefixes, member)
  return {
    member = member,
    following = prefixes[1] .. member,
    home = prefixes[2] .. member,
    state = prefixes[3] .. member,
    sources = prefixes[4] .. member,
  }
end

-- Returns the floor, nil without a home. `is_change` says that what is about to be done is more than adding a post:
-- a builder that has read before it must read again.
local function open_home(at, is_change)
  local state = redis.call('HMGET', at.state, 'floor', 'building')
  if state[1] and state[2] and is_change then
    redis.call('HINCRBY', at.state, 'changed', 1)
  end
  return state[1] and tonumber(state[1])
end

local function each_source(list)
  return string.gmatch(list or '', '(%d+):(%d+)')
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

local function raise_floor(at, floor)
  redis.call('HSET', at.state, 'floor', str(floor))
  local gone = redis.call('ZRANGEBYSCORE', at.home, '-inf', str(floor))
  redis.call('ZREMRANGEBYSCORE', at.home, '-inf', str(floor))
  for _, post in ipairs(gone) do
    if redis.call('HEXISTS', at.sources, post) == 1 then
      set_sources(at, post, (sources_above(at, floor, post)))
    end
  end
end

-- Bounds the sources of posts below the floor: of more than `most` the oldest go, and the floor rises above them.
local function trim_sources(at, floor, most)
  local all, newest, below = redis.call('HGETALL', at.sources), {}, {}
  for i = 1, #all, 2 do
    local last = tonumber(string.match(all[i + 1], '(%d+):%d+$'))
    if not redis.call('ZSCORE', at.home, all[i]) then
      below[all[i]] = last
      newest[#newest + 1] = last
    end
  end
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
  local floor, surplus = nil, redis.call('ZCARD', at.home) - size
  if surplus > slack then
    floor = tonumber(redis.call('ZRANGE', at.home, surplus - 1, surplus - 1, 'WITHSCORES')[2])
  end
  if oldest > (floor or 0) then
    local lowest = redis.call('ZRANGE', at.home, 0, 0, 'WITHSCORES')[2]
    floor = lowest and tonumber(lowest) <= oldest and oldest or floor
  end
  if floor then
    raise_floor(at, floor)
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
  if tonumber(post) > floor then
    redis.call('ZADD', at.home, 'LT', post, post)
  else
    redis.call('ZREM', at.home, post)
  end
end

-- A plain repost by somebody the member has. Where its author is followed too, the post stands at its own id, to which
-- what brings the author's posts puts it, or a reader who pulls them; else at the first repost that brings it; where
-- that is at or below the floor, the home has already shown it.
local function bring_repost(at, floor, post, author, repost, reposter, earlier)
  local has, stands = has_author(at, author), redis.call('ZSCORE', at.home, post)
  if tonumber(repost) <= floor then
    if stands and not has then
      redis.call('ZREM', at.home, post)
    end
    return
  end
  local _, first = sources_above(at, floor, post)
  add_source(at, post, repost, reposter)
  if not has and (stands or not first and not was_passed_below(at, floor, earlier)) then
    -- Not in the home and yet with sources: it stands below the floor.
    redis.call('ZADD', at.home, 'LT', repost, post)
  end
end

-- Puts a post where it belongs after something that brought it is gone: its author's follow, or a repost.
local function settle(at, floor, post, author, earlier)
  local _, first = sources_above(at, floor, post)
  if has_author(at, author) then
    local stands = redis.call('ZSCORE', at.home, post)
    if not first and stands and tonumber(stands) ~= tonumber(post) then
      redis.call('ZREM', at.home, post) -- a repost had brought it before its author, whose posts are pulled, was followed
    end
  elseif not first then
    redis.call('ZREM', at.home, post)
    redis.call('HDEL', at.sources, post)
  elseif redis.call('ZSCORE', at.home, post) or not was_passed_below(at, floor, earlier) then
    redis.call('ZADD', at.home, first, post)
  end
end

-- Takes one repost away as a source of a post.
local function take_source(at, floor, post, author, repost, earlier)
  local entries = {}
  for id, who in each_source(redis.call('HGET', at.sources, post)) do
    if id ~= repost then
      entries[#entries + 1] = id .. ':' .. who
    end
  end
  set_sources(at, post, entries)
  settle(at, floor, post, author, earlier)
end
