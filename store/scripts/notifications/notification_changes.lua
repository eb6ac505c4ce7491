-- Reads the changes of a member's notifications after an id, from both logs in one step.
-- KEYS notifications, withdrawn, state; ARGV id, most entries of each
-- Returns the newest id of all and the floor, then the entries of each WITHSCORES, oldest first.
local floor = redis.call('HGET', KEYS[3], 'floor') or '0'
local newest, changes = floor, {}
for i = 1, 2 do
  local last = redis.call('ZRANGE', KEYS[i], -1, -1, 'WITHSCORES')[2]
  newest = last and tonumber(last) > tonumber(newest) and last or newest
  changes[i] = redis.call('ZRANGE', KEYS[i], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
end
return {newest, floor, changes[1], changes[2]}
