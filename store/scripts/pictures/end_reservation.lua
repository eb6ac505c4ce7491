-- Attaches reserved pictures to a message, or gives them back to their owner.
-- KEYS: user, uploads, images.
-- ARGV: image_prefix, reservation, message ('' gives them back), ids...
-- Returns the names of the objects that go, because the owner's account was deleted meanwhile.
local objects, is_owned = {}, redis.call('EXISTS', user) == 1
for _, id in ipairs(ids) do
  local image = image_prefix .. id
  if redis.call('HGET', image, ImageField.SUBJECT) ~= 'reserved:' .. reservation then
    -- This step is repeated, or the message was deleted before.
  elseif message ~= '' then
    redis.call('HSET', image, ImageField.SUBJECT, 'message:' .. message)
  elseif is_owned then
    redis.call('HDEL', image, ImageField.SUBJECT)
    redis.call('ZADD', uploads, id, id)
  else
    objects[#objects + 1] = redis.call('HGET', image, ImageField.OBJECT)
    redis.call('DEL', image)
    redis.call('ZREM', images, id)
  end
end
return objects
