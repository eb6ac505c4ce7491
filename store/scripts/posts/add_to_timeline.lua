-- Adds posts to a bounded timeline that everybody reads, public or of a hashtag, and to its ranking.
-- KEYS: timeline, ranking.
-- ARGV: timeline_size, ranking_size, scored... (post, score, post, score, ...).
-- Returns how many posts it removed from a full timeline.
-- A post older than everything in a full timeline is removed at once. An existing score is newer, and stays.
for i = 1, #scored, 2 do
  redis.call('ZADD', timeline, scored[i], scored[i])
  redis.call('ZADD', ranking, 'NX', scored[i + 1], scored[i])
end
local surplus = redis.call('ZRANGE', timeline, 0, -tonumber(timeline_size) - 1)
for _, post in ipairs(surplus) do
  redis.call('ZREM', timeline, post)
  redis.call('ZREM', ranking, post)
end
redis.call('ZREMRANGEBYRANK', ranking, 0, -tonumber(ranking_size) - 1)
return #surplus
