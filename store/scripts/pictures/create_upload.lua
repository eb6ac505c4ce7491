-- Creates an upload in its member's partition, and counts it in the member's day.
-- KEYS: minted, user, uploads, images, uploaded, idempotency?
-- ARGV: partition, member, image_prefix, purpose, content_type, size, most, digest, ttl (s).
-- `most` is how many uploads the member may begin in a day, 0 without a limit. `ttl` is that of the idempotency key.
-- Returns {id}, CONFLICT, or FULL.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local first = first_result(idempotency, digest)
if first then
  return first
end
if most ~= '0' then
  if tonumber(redis.call('GET', uploaded) or '0') >= tonumber(most) then
    return Refusal.FULL
  end
  redis.call('INCR', uploaded)
  redis.call('EXPIRE', uploaded, 86400, 'NX')
end
local id = str(mint(minted, partition))
redis.call('HSET', image_prefix .. id, ImageField.OWNER, member, ImageField.PURPOSE, purpose,
  ImageField.CONTENT_TYPE, content_type, ImageField.SIZE, size, ImageField.STATE, 'WAITING', ImageField.VERSION, 1)
redis.call('ZADD', uploads, id, id)
redis.call('ZADD', images, id, id)
remember_result(idempotency, digest, id, ttl)
return {id}
