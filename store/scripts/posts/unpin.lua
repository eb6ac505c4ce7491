-- Takes a post off its author's profile where it is pinned there.
-- KEYS: user.
-- ARGV: post.
-- Returns 1 when it was pinned, else 0.
if redis.call('HGET', user, UserField.PINNED) ~= post then
  return 0
end
return redis.call('HDEL', user, UserField.PINNED)
