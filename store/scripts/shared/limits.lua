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
  if count == 1 then
    redis.call('EXPIRE', writes, 3600)
  end
  return true
end

-- Counts a write with its limits, as `store/limits/writes.py` packs them; '' is none. Returns nil. Returns 'hour' or
-- 'text', and counts nothing, if the limit of an hour or that of the same text would be exceeded.
local function exceeds(writes, texts, limits)
  local kind, most, digest, target, most_targets = string.match(limits, '(%S+) (%d+) (%S+) (%S+) (%d+)')
  if not kind then
    return nil
  end
  local sent, is_new_target, targets = '', digest ~= '-', 0
  if is_new_target then
    sent = redis.call('HGET', texts, digest) or ''
    for one in string.gmatch(sent, '%S+') do
      targets, is_new_target = targets + 1, is_new_target and one ~= target
    end
  end
  if is_new_target and targets >= tonumber(most_targets) then
    return 'text'
  elseif not count_write(writes, kind, most) then
    return 'hour'
  end
  if is_new_target then
    redis.call('HSET', texts, digest, sent .. ' ' .. target)
    redis.call('EXPIRE', texts, 86400, 'NX')
  end
end
