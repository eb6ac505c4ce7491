-- Adds a post to a bounded timeline all read: public, or of a hashtag. KEYS timeline; ARGV post, size
-- One that is older than everything a full timeline keeps is trimmed at once.
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[2]) - 1)
return 1
