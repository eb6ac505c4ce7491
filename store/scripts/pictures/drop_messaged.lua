-- Removes the records of pictures whose message was deleted.
-- KEYS: first (any of the pictures).
-- ARGV: image_prefix, images_prefix, ids...
local _ = first
for _, id in ipairs(ids) do
  local image = image_prefix .. id
  local owner = redis.call('HGET', image, ImageField.OWNER)
  if owner then
    redis.call('DEL', image)
    redis.call('ZREM', images_prefix .. owner, id)
  end
end
return 1
