-- Counts a write that its author makes in another partition, and adds it to the author's index of such writes.
-- KEYS: writes, texts, index?.
-- ARGV: limits, entry (of the index, or '').
-- The index is written in any case: it may name too much. The write is counted in any case, too. The caller takes the
-- count of each write back that is not made, whatever the reason.
-- Returns '', or the limit that the write exceeds: 'hour' or 'text'.
if entry ~= '' then
  redis.call('ZADD', index, entry, entry)
end
local exceeded = exceeds(writes, texts, limits)
if exceeded then
  redis.call('HINCRBY', writes, string.match(limits, '%S+'), 1)
end
return exceeded or ''
