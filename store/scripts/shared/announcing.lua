-- Shared by all scripts, after the prelude: how everybody learns of a post.
--
-- Adds posts, given as post and score in turn, to a timeline that everybody reads, and to its ranking. An existing score
-- is newer, and stays.
local function list_publicly(timeline, ranking, scored)
  local added, ranked = {}, {}
  for i = 1, #scored, 2 do
    added[i], added[i + 1] = scored[i], scored[i]
    ranked[i], ranked[i + 1] = scored[i + 1], scored[i]
  end
  redis.call('ZADD', timeline, unpack(added))
  redis.call('ZADD', ranking, 'NX', unpack(ranked))
end

-- Removes what a timeline that everybody reads, and its ranking, have too much. Returns how many posts it removed.
local function trim_publicly(timeline, ranking, timeline_size, ranking_size)
  local surplus = redis.call('ZRANGE', timeline, 0, -tonumber(timeline_size) - 1)
  for i = 1, #surplus, 1000 do
    local some = {unpack(surplus, i, math.min(i + 999, #surplus))}
    redis.call('ZREM', timeline, unpack(some))
    redis.call('ZREM', ranking, unpack(some))
  end
  redis.call('ZREMRANGEBYRANK', ranking, 0, -tonumber(ranking_size) - 1)
  return #surplus
end

-- Counts uses of tags in an hour. The tags are trimmed only at twice the number kept: a new tag needs time to collect
-- uses. `counts` is a list of tags, each followed by how often it is used.
local function count_tags(uses, tags_kept, ttl, counts)
  for i = 1, #counts, 2 do
    redis.call('ZINCRBY', uses, counts[i + 1], counts[i])
  end
  local size, kept = redis.call('ZCARD', uses), tonumber(tags_kept)
  if size > 2 * kept then
    redis.call('ZREMRANGEBYRANK', uses, 0, size - kept - 1)
  end
  redis.call('EXPIRE', uses, ttl)
end

-- Appends an event to the log, and hands it to the subscribed processes with its content. The content is not stored, so
-- that no text outlives its post. Both are lists of fields and values. Returns the event's id.
local function append_to_log(events, events_kept, channel, fields, content)
  local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
  local id = redis.call('XADD', events, 'MAXLEN', '~', events_kept, '*', unpack(fields))
  for _, value in ipairs(content) do
    fields[#fields + 1] = value
  end
  -- A process that has read the event before this one need not read the log.
  redis.call('SPUBLISH', channel, cjson.encode({last and last[1] or '', id, fields}))
  return id
end
