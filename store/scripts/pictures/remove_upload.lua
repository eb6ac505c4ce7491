-- Removes an upload that is attached to nothing, with the job that removes its objects.
-- KEYS: minted, jobs, image, images, uploads, originals
-- ARGV: partition, id, channel
-- Returns 1, or 0 when the picture is gone or belongs to something. It is then listed no longer.
redis.call('ZREM', uploads, id)
local subject, object = unpack(redis.call('HMGET', image, ImageField.SUBJECT, ImageField.OBJECT))
if subject or redis.call('DEL', image) == 0 then
  return 0
end
redis.call('ZREM', images, id)
redis.call('HDEL', originals, id)
redis.call('SPUBLISH', channel, '')
if object then
  leave(jobs, (commit_job(jobs, minted, partition, 'remove_objects', {objects = object})))
end
return 1
