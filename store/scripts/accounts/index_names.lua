-- Updates the search index: the sets of names by which members are found.
-- KEYS: indexed, names... (a set of each magnitude).
-- ARGV: changes... (of each member: the member, the expected record, the new record).
-- A member's record is the magnitude and the names, each after a zero byte. '' means no record. The expected
-- record 'any' matches all records. The entries are `name\0member`.
-- Invariant: the record names all entries of the member, so an update leaves none behind.
local function each_entry(record, member, act)
  local magnitude = string.match(record, '^%d+')
  for name in string.gmatch(string.sub(record, #(magnitude or '') + 1), '%z([^%z]+)') do
    act(names[1 + tonumber(magnitude)], name .. '\0' .. member)
  end
end
for i = 1, #changes, 3 do
  local member, expected, wanted = changes[i], changes[i + 1], changes[i + 2]
  local record = redis.call('HGET', indexed, member) or ''
  if expected == 'any' or expected == record then
    each_entry(record, member, function(set, entry)
      redis.call('ZREM', set, entry)
    end)
    each_entry(wanted, member, function(set, entry)
      redis.call('ZADD', set, 0, entry)
    end)
    if wanted == '' then
      redis.call('HDEL', indexed, member)
    else
      redis.call('HSET', indexed, member, wanted)
    end
  end
end
