-- Reads some of the running promotions, each once, round robin from a place that the seed selects.
-- KEYS promotions; ARGV now (ms), seed, how many, prefix of promotions
-- Returns pairs of id and fields, with no fields for a record that cannot be read.
local size = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
local ended = redis.call('ZCARD', KEYS[1]) - size
local found = {}
for i = 1, math.min(tonumber(ARGV[3]), size) do
  local rank = ended + (tonumber(ARGV[2]) + i) % size
  local promotion = redis.call('ZRANGE', KEYS[1], rank, rank)[1]
  local fields = redis.pcall('HGETALL', ARGV[4] .. promotion)
  found[i] = {promotion, fields.err and {} or fields}
end
return found
