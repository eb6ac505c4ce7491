-- Adds posts to a bounded timeline all read, public or of a hashtag, and to what ranks it.
-- KEYS timeline, important; ARGV size of each, then post, score, ...
-- Returns how many made room.
-- One that is older than everything a full timeline keeps is trimmed at once. A score that is there is newer: it stays.
for i = 3, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i])
  redis.call('ZADD', KEYS[2], 'NX', ARGV[i + 1], ARGV[i])
end
local surplus = redis.call('ZRANGE', KEYS[1], 0, -tonumber(ARGV[1]) - 1)
for _, post in ipairs(surplus) do
  redis.call('ZREM', KEYS[1], post)
  redis.call('ZREM', KEYS[2], post)
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[2]) - 1)
return #surplus
