-- Completes the promotion or demotion of a big author, unless a newer job has been committed since.
-- KEYS user, minted; ARGV partition, reach, 'big' or ''
-- Returns 1, 0 when something newer was committed.
if redis.call('HGET', KEYS[1], 'reach') ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'reach')
else
  redis.call('HSET', KEYS[1], 'reach', ARGV[3] .. ':' .. str(mint(KEYS[2], ARGV[1])))
end
return 1
