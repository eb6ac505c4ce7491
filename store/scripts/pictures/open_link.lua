-- Returns whether a link to a picture still works: its version is the present one, and its owner's account exists.
-- KEYS: image.
-- ARGV: version, object, user_prefix.
local owner, present, name = unpack(
  redis.call('HMGET', image, ImageField.OWNER, ImageField.VERSION, ImageField.OBJECT))
if not owner or present ~= version or name ~= object then
  return 0
end
return redis.call('EXISTS', user_prefix .. owner)
