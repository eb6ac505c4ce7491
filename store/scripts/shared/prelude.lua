-- Shared by all scripts: the loader puts what a script uses of it before that.

local EPOCH = 1704067200000 -- ms: 2024-01-01T00:00:00Z

-- Ids exceed what tostring() prints exactly.
local function str(number)
  return string.format('%.0f', number)
end

-- Returns the server's clock, in ms since 1970; it stands still while a script runs.
local clock
local function now_ms()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end

-- Unique and growing within the partition, also when the clock steps back. What answers a thing of another partition
-- comes at least a millisecond after it, so that no list shows the answer first.
local function mint(key, partition, answered)
  local now = (now_ms() - EPOCH) * 16
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
  redis.call('ZADD', rescore, 'LT', str(now_ms() + RESCORE_AFTER), post)
end
