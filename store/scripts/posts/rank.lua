-- Updates a post's rank in a timeline that everybody reads.
-- KEYS: timeline, ranking.
-- ARGV: post, score, ranking_size.
-- A post that is not in the timeline loses its rank, so late work cannot list a deleted post again.
if redis.call('ZSCORE', timeline, post) then
  redis.call('ZADD', ranking, score, post)
  redis.call('ZREMRANGEBYRANK', ranking, 0, -tonumber(ranking_size) - 1)
else
  redis.call('ZREM', ranking, post)
end
return 1
