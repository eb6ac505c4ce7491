-- Notes that the bytes of an upload have arrived, with the job that processes them. Any worker may take the job at once.
-- KEYS: minted, jobs, image
-- ARGV: partition, id, object, channel
-- Returns {'new', job, job body}; {'again'} when bytes have arrived before; {'gone'}.
local state = redis.call('HGET', image, ImageField.STATE)
if state ~= 'WAITING' then
  return {state and 'again' or 'gone'}
end
redis.call('HSET', image, ImageField.STATE, 'PROCESSING', ImageField.OBJECT, object)
local job, body = str(mint(minted, partition)), cjson.encode({image = id, object = object})
commit(jobs, job, 'process_image', body)
leave(jobs, job)
redis.call('SPUBLISH', channel, '')
return {'new', job, body}
