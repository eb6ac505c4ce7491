-- Completes the promotion or demotion of a big author, unless a newer job has been committed since.
-- KEYS: user, minted.
-- ARGV: partition, expected (reach that this job has set), state ('big', '' for a small author).
-- Returns 1, 0 when something newer was committed.
if redis.call('HGET', user, UserField.REACH) ~= expected then
  return 0
end
if state == '' then
  redis.call('HDEL', user, UserField.REACH)
else
  redis.call('HSET', user, UserField.REACH, state .. ':' .. str(mint(minted, partition)))
end
return 1
