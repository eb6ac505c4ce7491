-- Removes a post from its group's timeline. A tombstone keeps late work from listing it again.
-- KEYS: minted, group, group_timeline, group_changes, tombstone.
-- ARGV: partition, post, changes_kept, channel, ttl (s, of the tombstone).
redis.call('SET', tombstone, '1', 'EX', ttl)
if redis.call('ZREM', group_timeline, post) == 1 and redis.call('EXISTS', group) == 1 then
  log_group_change(group_changes, minted, partition, post, tonumber(changes_kept), channel)
end
return 1
