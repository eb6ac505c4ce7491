-- Takes a repost or quote off its original's list, and keeps late work from listing it again.
-- KEYS original's status, its reposts or quotes, tombstone; ARGV member of the set, tombstone's life (s), counter, channel
redis.call('SET', KEYS[3], '1', 'EX', ARGV[2])
if redis.call('ZREM', KEYS[2], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[3], redis.call('ZCARD', KEYS[2]))
  redis.call('PUBLISH', ARGV[4], '')
end
return 1
