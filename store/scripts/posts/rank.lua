-- Updates a post's rank in a timeline that everybody reads. KEYS timeline, important; ARGV post, score, size
-- A post that is not in the timeline loses its rank, so late work cannot list a deleted post again.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -tonumber(ARGV[3]) - 1)
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1
