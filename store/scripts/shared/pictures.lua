-- Shared by all scripts, after the prelude: pictures.
--
-- What a picture belongs to stores `packed`: a JSON list, in which each picture begins with id, object and version. Numbers
-- stay text here, because cjson rounds ids. Within a text of JSON, a quotation mark follows a backslash. So no alt text
-- looks like the beginning of a picture.
local PACKED_PICTURE = '%[(%d+),"(%x+)",(%d+),'

-- Returns the refusal of a picture that cannot be attached, nil if it can be.
local function obstacle_of(image, owner, purpose)
  local whose, what, state, subject = unpack(redis.call('HMGET', image, ImageField.OWNER, ImageField.PURPOSE,
    ImageField.STATE, ImageField.SUBJECT))
  if whose ~= owner then
    return Refusal.GONE
  elseif what ~= purpose then
    return Refusal.PURPOSE
  elseif subject then
    return Refusal.ATTACHED
  elseif state ~= 'READY' then
    return Refusal.UNREADY
  end
end

-- Returns the refusal of the first picture that cannot be attached, with its place, from 0. `wanted` is a list of pairs: an
-- id, and the JSON of what the member says of that picture.
local function first_obstacle(prefix, owner, purpose, wanted)
  for place, one in ipairs(wanted) do
    local obstacle = obstacle_of(prefix .. one[1], owner, purpose)
    if obstacle then
      return obstacle .. ' ' .. place - 1
    end
  end
end

-- Counts the original of an upload as waiting, for some seconds at most. `store/pictures/originals.py` reads it.
local function count_original(originals, id, member, size, seconds)
  redis.call('HSET', originals, id, member .. ' ' .. size .. ' ' .. str(now_ms() + tonumber(seconds) * 1000))
  redis.call('EXPIRE', originals, 86400)
end

-- Attaches pictures to a subject. Returns them packed.
local function attach_images(prefix, uploads, wanted, subject)
  local packed = {}
  for place, one in ipairs(wanted) do
    local image = prefix .. one[1]
    redis.call('HSET', image, ImageField.SUBJECT, subject)
    redis.call('ZREM', uploads, one[1])
    local object, version, width, height, blurhash = unpack(redis.call('HMGET', image, ImageField.OBJECT,
      ImageField.VERSION, ImageField.WIDTH, ImageField.HEIGHT, ImageField.BLURHASH))
    packed[place] = '[' .. table.concat({one[1], '"' .. object .. '"', version, width, height, '"' .. blurhash .. '"',
      one[2]}, ',') .. ']'
  end
  return '[' .. table.concat(packed, ',') .. ']'
end

-- Removes the records of packed pictures of one member. Returns the names of their objects, separated by spaces.
local function drop_images(prefix, images, packed)
  local objects = {}
  for id, object in string.gmatch(packed or '', PACKED_PICTURE) do
    redis.call('DEL', prefix .. id)
    redis.call('ZREM', images, id)
    objects[#objects + 1] = object
  end
  return table.concat(objects, ' ')
end

-- Raises the versions of packed pictures, which ends all links made before. Returns the pictures as they are then.
local function raise_versions(prefix, packed)
  return (string.gsub(packed, PACKED_PICTURE, function(id, object)
    local version = redis.call('HINCRBY', prefix .. id, ImageField.VERSION, 1)
    return '[' .. id .. ',"' .. object .. '",' .. str(version) .. ','
  end))
end
