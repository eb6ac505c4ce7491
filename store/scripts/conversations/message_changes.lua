-- Reads a member's message log after an id. Opens the log if there is none, and keeps it for a while.
-- KEYS: message_log, minted.
-- ARGV: partition, after (id), limit, seconds (for which the log is kept without a reader).
-- Returns the floor, the newest id, and the changes WITHSCORES, oldest first.
if redis.call('EXISTS', message_log) == 0 then
  redis.call('ZADD', message_log, str(mint(minted, partition)), 'floor')
end
redis.call('EXPIRE', message_log, seconds)
local floor = redis.call('ZSCORE', message_log, 'floor')
local newest = redis.call('ZRANGE', message_log, -1, -1, 'WITHSCORES')[2]
local first = '(' .. (tonumber(after) > tonumber(floor) and after or floor)
return {
  floor, newest, redis.call('ZRANGE', message_log, first, '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES'),
}
