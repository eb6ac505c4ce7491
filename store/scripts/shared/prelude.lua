-- Shared by all scripts: the loader puts the declarations that a script uses before it.

local EPOCH = 1704067200000 -- ms: 2024-01-01T00:00:00Z

-- Ids exceed what tostring() prints exactly.
local function str(number)
  return string.format('%.0f', number)
end

-- Returns the server's clock in ms since 1970. It does not advance while a script runs.
local clock
local function now_ms()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end

-- Returns the id that a partition mints at a tick, which counts sixteenths of a millisecond.
local function id_at(tick, partition)
  return math.floor(tick / 16) * 4096 + tonumber(partition) * 16 + tick % 16
end

-- Mints an id, unique and increasing within the partition even when the clock steps back. `answered` is the id of a
-- post that the new one answers or reposts, perhaps in another partition. The new id is at least a millisecond later,
-- so that no list shows the answer first. `next_id` leaves it to the caller to set the key to the second result.
local function next_id(key, partition, answered)
  local now = (now_ms() - EPOCH) * 16
  local last = tonumber(redis.call('GET', key) or '0')
  local tick = math.max(now, last + 1)
  if answered and answered ~= '' then
    tick = math.max(tick, (math.floor(tonumber(answered) / 4096) + 1) * 16)
  end
  return id_at(tick, partition), str(tick)
end

local function mint(key, partition, answered)
  local id, tick = next_id(key, partition, answered)
  redis.call('SET', key, tick)
  return id
end

-- Mints several ids at once. Returns their texts, in ascending order.
local function mint_many(key, partition, count)
  local ids, tick = {}, math.max((now_ms() - EPOCH) * 16, tonumber(redis.call('GET', key) or '0') + 1)
  for i = 1, count do
    ids[i] = str(id_at(tick + i - 1, partition))
  end
  if count > 0 then
    redis.call('SET', key, str(tick + count - 1))
  end
  return ids
end

-- Commits a job in the step that makes it necessary. The stream delivers the job to the committer at once, as its first
-- worker. Another worker sees it only after the lease expires. `trace` comes from the loader: the operation's trace, which
-- the worker continues, or ''. The fields of each kind are those of its struct in `store/records/jobs.py`.
-- Returns the job's body.
local function commit(stream, id, kind, fields)
  local body = cjson.encode(fields)
  if trace == '' then
    redis.call('XADD', stream, str(id) .. '-0', 'kind', kind, 'body', body)
  else
    redis.call('XADD', stream, str(id) .. '-0', 'kind', kind, 'body', body, 'trace', trace)
  end
  local read = redis.pcall('XREADGROUP', 'GROUP', 'workers', 'perch', 'STREAMS', stream, '>')
  if read.err then
    if string.find(read.err, 'NOGROUP', 1, true) then
      redis.call('XGROUP', 'CREATE', stream, 'workers', '0')
    end
    redis.call('XREADGROUP', 'GROUP', 'workers', 'perch', 'STREAMS', stream, '>')
  end
  return body
end

-- Commits a job as `commit` does, with an id of its own. Returns its id and its body.
local function commit_job(stream, minted, partition, kind, fields)
  local id = mint(minted, partition)
  return str(id), commit(stream, id, kind, fields)
end

-- Leaves a job to any worker instead of its committer.
local function leave(stream, id)
  redis.call('XCLAIM', stream, 'workers', 'perch', 0, str(id) .. '-0', 'IDLE', 86400000, 'JUSTID')
end

-- Saves how far a job has come, and renews its lease. A job that progresses is not failing, so its attempts are counted
-- from zero again. Returns 1; 0 when the job is finished or overtaken by a delete.
local function save_progress(stream, progress, job, cursor)
  local held = redis.call('XCLAIM', stream, 'workers', 'perch', 0, job .. '-0', 'RETRYCOUNT', 0, 'JUSTID')
  if #held == 0 then
    return 0
  end
  redis.call('HSET', progress, job, cursor)
  return 1
end

-- Runs a function with each owner and their words. A list has of each owner: the owner, a number, so many words.
local function for_each_owner(list, run)
  local i = 1
  while i <= #list do
    local last = i + 1 + tonumber(list[i + 1])
    run(list[i], {unpack(list, i + 2, last)}, i - 1)
    i = last + 1
  end
end

-- Ends every session of a member but one. Returns those that ended.
local function end_others(sessions, session)
  local ended = {}
  for _, other in ipairs(redis.call('HKEYS', sessions)) do
    if other ~= session then
      redis.call('HDEL', sessions, other)
      ended[#ended + 1] = other
    end
  end
  return ended
end

-- Writes the records of a new member.
local function write_member(user, credentials, new)
  redis.call('HSET', user, UserField.LOGIN, new.login, UserField.NAME, new.name, UserField.BIO, '', UserField.FOLLOWERS, 0,
    UserField.FOLLOWING, 0, UserField.POSTS, 0)
  local fields = {CredentialsField.EMAIL, new.email, CredentialsField.PASSWORD, new.password, CredentialsField.ROLE,
    new.role}
  if new.verified == '1' then
    fields[#fields + 1], fields[#fields + 2] = CredentialsField.VERIFIED, '1'
  end
  redis.call('HSET', credentials, unpack(fields))
end

-- Sets and returns a member's number of posts, without the hidden ones.
local function count_posts(user, profile, hidden)
  local posts = redis.call('ZCARD', profile) - redis.call('ZCARD', hidden)
  redis.call('HSET', user, UserField.POSTS, posts)
  return posts
end

-- Writes the record of a new post: its author, its text, and those of its other fields that are not empty.
local function write_post(status, author, post)
  local fields = {StatusField.AUTHOR, author, StatusField.TEXT, post.text}
  for field, value in pairs(post) do
    if value ~= '' and field ~= StatusField.TEXT then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  redis.call('HSET', status, unpack(fields))
end

-- Returns the fields of a post, of which each that is absent becomes ''.
local function with_absent(post)
  return setmetatable(post, {__index = function() return '' end})
end

-- Returns the record of a post, where each absent field is ''.
local function read_post(status)
  local fields = redis.call('HGETALL', status)
  local post = with_absent({})
  for i = 1, #fields, 2 do
    post[fields[i]] = fields[i + 1]
  end
  return post
end

-- Returns a post as its author's profile lists it. An original in a group is listed with 0 as author: no home has it
-- because its author is followed.
local function profile_entry(id, plain, post)
  if plain then
    return id .. ':' .. post.original .. ':' .. (post.original_group ~= '' and '0' or post.original_author)
  end
  return post.group ~= '' and id .. ':' .. post.group or id
end

-- Returns a member's magnitude, which selects their set of names: 0 below 8 followers, one more for each doubling.
-- Hysteresis: a member keeps a magnitude down to three quarters of its threshold. So a count that goes up and down near
-- a threshold makes no work.
local MAGNITUDES = 24
local function magnitude_of(followers, known)
  local is = 0
  while followers >= 8 * 2 ^ is and is < MAGNITUDES - 1 do
    is = is + 1
  end
  return known > is and followers >= 3 * 2 ^ known and known or is
end

-- Stores a member's magnitude if it differs from the one `stored`, with the job that moves their names.
local function update_magnitude(user, stream, minted, partition, member, followers, stored)
  local known = tonumber(stored or '0')
  local is = magnitude_of(followers, known)
  if is ~= known then
    redis.call('HSET', user, UserField.MAGNITUDE, is)
    leave(stream, (commit_job(stream, minted, partition, 'index', {member = member})))
  end
end

-- Commits the job that promotes a big author or demotes one, if a number of followers has crossed the threshold. `reach`
-- is the member's state, with the id that set it: absent (small), growing (being promoted), big (no longer pushed to
-- followers) or shrinking (being demoted).
local function update_reach(user, stream, minted, partition, member, followers, threshold, reach)
  reach = string.match(reach or '', '%a+') or 'small'
  local is_big = reach == 'growing' or reach == 'big'
  local kind
  if not is_big and followers >= tonumber(threshold) then
    kind = 'grow'
  elseif is_big and followers < tonumber(threshold) * 0.9 then
    kind = 'shrink'
  else
    return
  end
  local id = mint(minted, partition)
  redis.call('HSET', user, UserField.REACH, (kind == 'grow' and 'growing:' or 'shrinking:') .. str(id))
  commit(stream, id, kind, {member = member})
  leave(stream, id)
end

-- Sets a member's number of followers, with what depends on it.
local function weigh(user, stream, minted, partition, member, followers, threshold)
  local magnitude, reach = unpack(redis.call('HMGET', user, UserField.MAGNITUDE, UserField.REACH))
  redis.call('HSET', user, UserField.FOLLOWERS, followers)
  update_magnitude(user, stream, minted, partition, member, followers, magnitude)
  update_reach(user, stream, minted, partition, member, followers, threshold, reach)
end

-- Publishes that the counts of a post have changed, and schedules its rescoring for a second later. An earlier due
-- time stays, so that a post is rescored at most once a second. A worker's lease ends later, so the new due time
-- replaces it.
local RESCORE_AFTER = 1000 -- ms
local function changed(channel, rescore, post)
  redis.call('SPUBLISH', channel, '')
  redis.call('ZADD', rescore, 'LT', str(now_ms() + RESCORE_AFTER), post)
end

-- Returns what an idempotency key has made before: {id}, CONFLICT for other input, nil for a new key.
local function first_result(idempotency, digest)
  local first = idempotency and redis.call('GET', idempotency)
  if first then
    local used_for, id = string.match(first, '^(%S+) (%d+)$')
    return used_for == digest and {id} or Refusal.CONFLICT
  end
end

-- Stores what an idempotency key has made, if there is a key.
local function remember_result(idempotency, digest, id, ttl)
  if idempotency then
    redis.call('SET', idempotency, digest .. ' ' .. id, 'EX', ttl)
  end
end
