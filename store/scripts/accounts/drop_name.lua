-- Removes an entry from a set of names, unless the index lists it for its member.
-- KEYS: names, indexed.
-- ARGV: entry, member, magnitude, name.
local record = redis.call('HGET', indexed, member) or ''
local has_magnitude = string.match(record, '^%d+') == magnitude
if not (has_magnitude and string.find(record .. '\0', '\0' .. name .. '\0', 1, true)) then
  redis.call('ZREM', names, entry)
end
