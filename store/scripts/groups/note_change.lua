-- Logs that a post in a group's timeline is shown to others than before.
-- KEYS: minted, group, timeline, changes.
-- ARGV: partition, post, changes_kept, channel.
if redis.call('EXISTS', group) == 1 and redis.call('ZSCORE', timeline, post) then
  log_group_change(changes, minted, partition, post, tonumber(changes_kept), channel)
end
return 1
