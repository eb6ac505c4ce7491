-- Keeps the pictures of a deleted message if an open case has a copy of it.
-- KEYS: evidence.
-- ARGV: pictures (packed).
-- Returns 1 if they are kept. Then the resolution of the last such case gives them back.
if redis.call('EXISTS', evidence) == 0 then
  return 0
end
redis.call('HSET', evidence, EvidenceField.PICTURES, pictures)
return 1
