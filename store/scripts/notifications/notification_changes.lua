-- Reads the changes of a member's notifications after an id, from both logs in one step.
-- KEYS: notifications, withdrawn_notifications, notification_state.
-- ARGV: after (id), limit (entries of each log).
-- Returns the newest id of all and the floor, then the entries of each log WITHSCORES, oldest first.
local floor = redis.call('HGET', notification_state, NotificationsField.FLOOR) or '0'
local newest, changes = floor, {}
for i, log in ipairs({notifications, withdrawn_notifications}) do
  local last = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')[2]
  newest = last and tonumber(last) > tonumber(newest) and last or newest
  changes[i] = redis.call('ZRANGE', log, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
end
return {newest, floor, changes[1], changes[2]}
