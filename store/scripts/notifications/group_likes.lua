-- Gives likes one notification for each post and day, in place of one for each like. It has the id of the first.
-- KEYS: notifications.
-- Returns how many notifications were replaced.
local found, replaced = redis.call('ZRANGE', notifications, 0, -1, 'WITHSCORES'), 0
for i = 1, #found, 2 do
  local actor, post = string.match(found[i], '^LIKE:(%d+):(%d+):0$')
  if actor and actor ~= '0' then
    redis.call('ZREM', notifications, found[i])
    redis.call('ZADD', notifications, 'NX', found[i + 1], likes_text(post, day_of(found[i + 1])))
    replaced = replaced + 1
  end
end
return replaced
