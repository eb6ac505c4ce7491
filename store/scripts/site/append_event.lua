-- Appends an event to the log, once, and hands it to the subscribed processes.
-- KEYS: events, event_ids.
-- ARGV: event (its name), events_kept, channel, content (JSON), fields... (pairs of field and value).
-- Returns the event's id; false when it was appended before.
-- Twice as many names are kept as events, so that no name is forgotten before its event.
-- `content` is a list of fields and values that are published and not stored, so that no text outlives its post.
if redis.call('ZADD', event_ids, 'NX', str(now_ms()), event) == 0 then
  return false
end
redis.call('ZREMRANGEBYRANK', event_ids, 0, -2 * events_kept - 1)
local last = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
local id = redis.call('XADD', events, 'MAXLEN', '~', events_kept, '*', unpack(fields))
for _, value in ipairs(cjson.decode(content)) do
  fields[#fields + 1] = value
end
-- A process that has read the event before this one need not read the log.
redis.call('SPUBLISH', channel, cjson.encode({last and last[1] or '', id, fields}))
return id
