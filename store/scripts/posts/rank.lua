-- Ranks a post anew in a timeline all read. KEYS timeline, important; ARGV post, score, size
-- What the timeline does not have, or no longer, is not ranked: so late work cannot bring a deleted post back.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[3]) - 1)
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1
