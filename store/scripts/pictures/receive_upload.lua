-- Notes that the bytes of an upload have arrived, with the job that processes them. Any worker may take the job at once.
-- KEYS: minted, jobs, image, originals
-- ARGV: partition, id, object, channel, seconds
-- `seconds` is for how long its original counts at most.
-- Returns {job, job body}, {} when bytes have arrived before, or GONE.
local state, member, size = unpack(redis.call('HMGET', image, ImageField.STATE, ImageField.OWNER, ImageField.SIZE))
if state ~= 'WAITING' then
  return state and {} or Refusal.GONE
end
redis.call('HSET', image, ImageField.STATE, 'PROCESSING', ImageField.OBJECT, object)
count_original(originals, id, member, size, seconds)
local job, body = commit_job(jobs, minted, partition, 'process_image', {image = id, object = object})
leave(jobs, job)
redis.call('SPUBLISH', channel, '')
return {job, body}
