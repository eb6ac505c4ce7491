-- Stores how the processing of an upload ended.
-- KEYS: image, originals
-- ARGV: id, object, channel, changes... (field, value, field, …)
-- Returns 1, 0 when it had ended before or the upload was removed.
local state, named = unpack(redis.call('HMGET', image, ImageField.STATE, ImageField.OBJECT))
if named ~= object or state ~= 'PROCESSING' then
  return 0
end
redis.call('HSET', image, unpack(changes))
redis.call('HDEL', originals, id)
redis.call('SPUBLISH', channel, '')
return 1
