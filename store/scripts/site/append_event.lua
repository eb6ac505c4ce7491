-- Appends an event to the log, once, and hands it to the subscribed processes.
-- KEYS: events, event_ids.
-- ARGV: event (its name), events_kept, channel, content (JSON), fields... (pairs of field and value).
-- Returns the event's id; false when it was appended before.
-- Twice as many names are kept as events, so that no name is forgotten before its event.
-- `content` is that of `append_to_log`.
if redis.call('ZADD', event_ids, 'NX', str(now_ms()), event) == 0 then
  return false
end
redis.call('ZREMRANGEBYRANK', event_ids, 0, -2 * events_kept - 1)
return append_to_log(events, events_kept, channel, fields, cjson.decode(content))
