-- Reserves pictures for a message, which is in another partition, with the job that attaches them or gives them back.
-- KEYS: minted, jobs, user, uploads.
-- ARGV: partition, owner, conversation, image_prefix, images (JSON: the `wanted` of `first_obstacle`).
-- Returns {the reservation (the job's id), the job's body, the pictures packed}, or the refusal of a picture.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local wanted, ids = cjson.decode(images), {}
local obstacle = first_obstacle(image_prefix, owner, 'MESSAGE', wanted)
if obstacle then
  return obstacle
end
for i, one in ipairs(wanted) do
  ids[i] = one[1]
end
local id = mint(minted, partition)
local packed = attach_images(image_prefix, uploads, wanted, 'reserved:' .. str(id))
local body = commit(jobs, id, 'reservation', {owner = owner, conversation = conversation, images = table.concat(ids, ' ')})
return {str(id), body, packed}
