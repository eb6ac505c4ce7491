-- Begins to build a home that is absent, or that somebody else has begun and may have given up.
-- KEYS home state; ARGV 'again' to add to a home that is ready, or ''
-- Returns how often the home has changed since somebody began, false when it is ready.
if redis.call('HEXISTS', KEYS[1], 'floor') == 0 then
  redis.call('HSET', KEYS[1], 'floor', 0, 'building', 1, 'changed', 0)
elseif redis.call('HEXISTS', KEYS[1], 'building') == 0 then
  if ARGV[1] == '' then
    return false
  end
  redis.call('HSET', KEYS[1], 'building', 1, 'changed', 0)
end
return redis.call('HGET', KEYS[1], 'changed')
