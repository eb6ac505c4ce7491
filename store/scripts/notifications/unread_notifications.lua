-- Counts notifications newer than the read mark.
-- KEYS: notifications, notification_state.
local last = redis.call('HGET', notification_state, NotificationsField.READ) or '0'
return redis.call('ZCOUNT', notifications, '(' .. last, '+inf')
