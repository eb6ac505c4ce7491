-- Adds a group to the index of those that a member is in or asks to join.
-- KEYS: minted, user, memberships.
-- ARGV: partition, group, max_groups.
-- Returns 1, 0 for an existing entry, or FULL.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
if redis.call('ZSCORE', memberships, group) then
  return 0
end
if redis.call('ZCARD', memberships) >= tonumber(max_groups) then
  return Refusal.FULL
end
redis.call('ZADD', memberships, str(mint(minted, partition)), group)
return 1
