-- Removes uploads and pictures of a member that are attached to nothing.
-- KEYS: uploads, images, originals.
-- ARGV: image_prefix, ids...
-- Returns the names of their objects.
local objects = {}
for _, id in ipairs(ids) do
  local image = image_prefix .. id
  local subject, object = unpack(redis.call('HMGET', image, ImageField.SUBJECT, ImageField.OBJECT))
  if not subject then
    redis.call('DEL', image)
    redis.call('ZREM', images, id)
    redis.call('ZREM', uploads, id)
    redis.call('HDEL', originals, id)
    objects[#objects + 1] = object or nil
  end
end
return objects
