-- Stores how the processing of an upload ended.
-- KEYS: image, originals
-- ARGV: id, object, channel, changes... (field, value, field, …)
-- Returns 'new'; 'again' when it had ended before; 'gone' when the upload was removed.
local state, named = unpack(redis.call('HMGET', image, ImageField.STATE, ImageField.OBJECT))
if not state or named ~= object then
  return 'gone'
elseif state ~= 'PROCESSING' then
  return 'again'
end
redis.call('HSET', image, unpack(changes))
redis.call('HDEL', originals, id)
redis.call('SPUBLISH', channel, '')
return 'new'
