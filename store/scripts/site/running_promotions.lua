-- Reads some of the running promotions, each once, round robin from a place that the seed selects.
-- KEYS: promotions.
-- ARGV: now (ms), seed, count, record_prefix.
-- Returns pairs of id and fields, with no fields for a record that cannot be read.
local size = redis.call('ZCOUNT', promotions, '(' .. now, '+inf')
local ended = redis.call('ZCARD', promotions) - size
local found = {}
for i = 1, math.min(tonumber(count), size) do
  local rank = ended + (tonumber(seed) + i) % size
  local promotion = redis.call('ZRANGE', promotions, rank, rank)[1]
  local fields = redis.pcall('HGETALL', record_prefix .. promotion)
  found[i] = {promotion, fields.err and {} or fields}
end
return found
