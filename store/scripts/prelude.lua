-- Shared by all scripts: the loader puts this text before each of them.

local EPOCH = 1704067200000 -- ms: 2024-01-01T00:00:00Z

-- Ids exceed what tostring() prints exactly.
local function str(number)
  return string.format('%.0f', number)
end

-- Unique and growing within the partition, also when the clock steps back.
local function mint(key, partition)
  local time = redis.call('TIME')
  local now = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - EPOCH) * 16
  local last = tonumber(redis.call('GET', key) or '0')
  local tick = math.max(now, last + 1)
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

-- A home is four keys; `at` names the follower they belong to.
local function home_of(prefixes, follower)
  return {
    member = follower,
    following = prefixes[1] .. follower,
    home = prefixes[2] .. follower,
    state = prefixes[3] .. follower,
    sources = prefixes[4] .. follower,
  }
end

-- Keeps the newest `size` once there are more than `size + slack`, and remembers the highest id it let go.
local function trim(at, size, slack)
  local surplus = redis.call('ZCARD', at.home) - size
  if surplus <= slack then
    return
  end
  local gone = redis.call('ZRANGE', at.home, 0, surplus - 1, 'WITHSCORES')
  redis.call('HSET', at.state, 'floor', gone[#gone])
  redis.call('ZREMRANGEBYRANK', at.home, 0, surplus - 1)
  for i = 1, #gone, 2 do
    redis.call('HDEL', at.sources, gone[i])
  end
end

-- Whether the follower has posts of this author by themselves, without anybody's repost.
local function has_author(at, author)
  return author == at.member or redis.call('ZSCORE', at.following, author)
end

-- Inserts `repost:author` into the space-separated list, which is kept oldest first. Repeating it changes nothing.
local function add_source(at, post, repost, reposter)
  local list = redis.call('HGET', at.sources, post)
  local entries, placed = {}, false
  for id, who in string.gmatch(list or '', '(%d+):(%d+)') do
    if id == repost then
      return entries
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
  redis.call('HSET', at.sources, post, table.concat(entries, ' '))
end

-- A status or quote whose author the follower has: it stands at its own id.
local function bring(at, floor, post)
  if tonumber(post) > floor then
    redis.call('ZADD', at.home, 'LT', post, post)
  end
end

-- A plain repost by somebody the follower has. The post stands at its own id where its author is followed too, else
-- at the first repost that brought it; where that lies below the floor, the home has already shown it.
-- `earlier` are those who reposted it before, nil when nobody did.
local function bring_repost(at, floor, post, author, repost, reposter, earlier)
  local place = repost
  if has_author(at, author) then
    place = post
  elseif floor > 0 and earlier and not redis.call('ZSCORE', at.home, post) then
    for id, who in string.gmatch(earlier, '(%d+):(%d+)') do
      if tonumber(id) <= floor and redis.call('ZSCORE', at.following, who) then
        return
      end
    end
  end
  if tonumber(place) > floor then
    redis.call('ZADD', at.home, 'LT', place, post)
    add_source(at, post, repost, reposter)
  else
    -- A later repost that came before this one has brought it: its place is this one, below the floor.
    redis.call('ZREM', at.home, post)
    redis.call('HDEL', at.sources, post)
  end
end

-- Puts a post where it belongs after something that brought it is gone: its author's follow, or one repost.
local function settle(at, post, author, keeps)
  if has_author(at, author) then
    return
  end
  local first = string.match(keeps or '', '%d+')
  if not first then
    redis.call('ZREM', at.home, post)
    redis.call('HDEL', at.sources, post)
  elseif redis.call('ZSCORE', at.home, post) then
    redis.call('ZADD', at.home, first, post)
  end
end

-- Takes one repost away as a source of a post.
local function take_source(at, post, author, repost)
  local list = redis.call('HGET', at.sources, post)
  if not list then
    return
  end
  local entries = {}
  for id, who in string.gmatch(list, '(%d+):(%d+)') do
    if id ~= repost then
      entries[#entries + 1] = id .. ':' .. who
    end
  end
  local keeps = table.concat(entries, ' ')
  if keeps == '' then
    redis.call('HDEL', at.sources, post)
  else
    redis.call('HSET', at.sources, post, keeps)
  end
  settle(at, post, author, keeps)
end
