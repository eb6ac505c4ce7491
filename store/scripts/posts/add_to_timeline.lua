-- Adds posts to a bounded timeline that everybody reads, public or of a hashtag, and to its ranking.
-- KEYS timeline, important; ARGV size of each, then post, score, ...
-- Returns how many posts it removed from a full timeline.
-- A post older than everything in a full timeline is removed at once. An existing score is newer, and stays.
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
