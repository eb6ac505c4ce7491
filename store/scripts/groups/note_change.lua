-- Logs that a post in a group's timeline is shown to others than before.
-- KEYS: minted, group, group_timeline, group_changes.
-- ARGV: partition, post, changes_kept, channel.
if redis.call('EXISTS', group) == 1 and redis.call('ZSCORE', group_timeline, post) then
  log_group_change(group_changes, minted, partition, post, tonumber(changes_kept), channel)
end
return 1
