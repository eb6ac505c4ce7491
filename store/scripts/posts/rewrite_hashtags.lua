-- Gives the hashtags of a post their new form, unless the post is gone or has it already.
-- KEYS: status.
-- ARGV: was, hashtags.
-- Returns 1 if it has changed them.
if redis.call('HGET', status, StatusField.HASHTAGS) ~= was then
  return 0
end
redis.call('HSET', status, StatusField.HASHTAGS, hashtags)
return 1
