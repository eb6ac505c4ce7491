-- Shared by all scripts, after the prelude: limits on how much one member writes.
--
-- Counts a write of a kind in a member's hour. Returns false, and counts nothing, if that would exceed `most`.
-- The hash expires an hour after its first write of any kind, so at the earliest when its hour has ended.
local function count_write(writes, kind, most)
  local count = redis.call('HINCRBY', writes, kind, 1)
  if count > tonumber(most) then
    redis.call('HINCRBY', writes, kind, -1)
    return false
  end
  if count <= 1 then
    redis.call('EXPIRE', writes, 3600)
  end
  return true
end

-- Notes where a text is sent. Returns false, and notes nothing, if it was sent to `most` others.
local function sends(texts, digest, target, most)
  local sent, targets = redis.call('HGET', texts, digest) or '', 0
  for one in string.gmatch(sent, '%S+') do
    if one == target then
      return true
    end
    targets = targets + 1
  end
  if targets >= tonumber(most) then
    return false
  end
  redis.call('HSET', texts, digest, sent .. ' ' .. target)
  redis.call('EXPIRE', texts, 86400, 'NX')
  return true
end

-- Counts a write with its limits, as `store/limits/writes.py` packs them; '' is none. Returns nil. Returns HOUR or
-- TEXT, and counts nothing, if the limit of an hour or that of the same text would be exceeded.
local function exceeds(writes, texts, limits)
  local kind, most, digest, target, most_targets = string.match(limits, '(%S+) (%d+) (%S+) (%S+) (%d+)')
  if not kind then
    return nil
  elseif not count_write(writes, kind, most) then
    return Refusal.HOUR
  elseif digest ~= '-' and not sends(texts, digest, target, most_targets) then
    redis.call('HINCRBY', writes, kind, -1)
    return Refusal.TEXT
  end
end
