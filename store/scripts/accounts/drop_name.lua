-- Removes an entry from a set of names, unless the index lists it for its member.
-- KEYS names, indexed; ARGV entry, member, magnitude, name
local known = redis.call('HGET', KEYS[2], ARGV[2]) or ''
local is_of = string.match(known, '^%d+') == ARGV[3]
if not (is_of and string.find(known .. '\0', '\0' .. ARGV[4] .. '\0', 1, true)) then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
