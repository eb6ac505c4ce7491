-- Marks notifications as read, up to one of them or all.
-- KEYS: notifications, withdrawn_notifications, notification_state.
-- ARGV: notification ('' for all).
-- Returns 1; a refusal when no notification has that id. The id of a recently withdrawn one is accepted, too.
local last = notification
if notification == '' then
  last = redis.call('ZRANGE', notifications, -1, -1, 'WITHSCORES')[2] or '0'
elseif redis.call('ZCOUNT', notifications, notification, notification) == 0
  and not redis.call('ZSCORE', withdrawn_notifications, notification) then
  return Refusal.GONE
end
if tonumber(last) > tonumber(redis.call('HGET', notification_state, NotificationsField.READ) or '0') then
  redis.call('HSET', notification_state, NotificationsField.READ, last)
end
return 1
