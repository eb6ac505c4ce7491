-- Updates the search index: the sets of names by which members are found. KEYS indexed, names of each magnitude
-- ARGV member, expected record ('any', '' for nothing), new record ('' for nothing), ...
-- A member's record is the magnitude and the names, each after a zero byte. The entries are `name\0member`.
-- Invariant: the record names all entries of the member, so an update leaves none behind.
local function each_entry(stored, member, act)
  local magnitude = string.match(stored, '^%d+')
  for name in string.gmatch(string.sub(stored, #(magnitude or '') + 1), '%z([^%z]+)') do
    act(KEYS[2 + tonumber(magnitude)], name .. '\0' .. member)
  end
end
for i = 1, #ARGV, 3 do
  local member, wanted = ARGV[i], ARGV[i + 2]
  local known = redis.call('HGET', KEYS[1], member) or ''
  if ARGV[i + 1] == 'any' or ARGV[i + 1] == known then
    each_entry(known, member, function(names, entry)
      redis.call('ZREM', names, entry)
    end)
    each_entry(wanted, member, function(names, entry)
      redis.call('ZADD', names, 0, entry)
    end)
    if wanted == '' then
      redis.call('HDEL', KEYS[1], member)
    else
      redis.call('HSET', KEYS[1], member, wanted)
    end
  end
end
