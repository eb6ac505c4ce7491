-- Hides a group from all but the site's moderators, or shows it again, with the job that updates the directory and
-- tells live homes of its reposted posts.
-- KEYS: minted, jobs, group.
-- ARGV: partition, id (of the group), channel, wanted ('1' to hide it, '' to show it), act?.
-- Returns GONE, {} without a change, or {job, job body}.
if redis.call('EXISTS', group) == 0 then
  return Refusal.GONE
end
local is = redis.call('HEXISTS', group, GroupField.HIDDEN) == 1
if is == (wanted == '1') then
  return {}
end
local text = redis.call('HGET', group, GroupField.NAME) .. '\n' .. redis.call('HGET', group, GroupField.DESCRIPTION)
if is then
  redis.call('HDEL', group, GroupField.HIDDEN)
else
  redis.call('HSET', group, GroupField.HIDDEN, '1')
end
redis.call('SPUBLISH', channel, '')
local is_private = redis.call('HGET', group, GroupField.KIND) == 'PRIVATE'
local shown = is_private and '' or is and 'unhide' or 'hide'
return {commit_job(jobs, minted, partition, 'group_members', {
  group = id, members = '', shown = shown, act = carried(act, is and '' or text),
})}
