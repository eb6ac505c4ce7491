-- Adds a group to the index of those that a member is in or asks to join.
-- KEYS: minted, user, memberships.
-- ARGV: partition, group, max_groups.
-- Returns 'new', 'again' for an existing entry, or 'full'.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
if redis.call('ZSCORE', memberships, group) then
  return 'again'
end
if redis.call('ZCARD', memberships) >= tonumber(max_groups) then
  return 'full'
end
redis.call('ZADD', memberships, str(mint(minted, partition)), group)
return 'new'
