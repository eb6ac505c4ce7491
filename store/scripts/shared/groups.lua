-- Shared by all scripts, after the prelude: roles in a group. No role counts as below MEMBER.
local ROLES = {MEMBER = 1, MODERATOR = 2, OWNER = 3}
local function role_in(members, roles, member)
  return redis.call('HGET', roles, member) or redis.call('ZSCORE', members, member) and 'MEMBER' or nil
end

local function moderates(members, roles, member)
  return (ROLES[role_in(members, roles, member)] or 0) >= ROLES.MODERATOR
end

-- Returns whether a member is a group's only owner.
local function is_last_owner(roles, member)
  local count, found = 0, false
  local all = redis.call('HGETALL', roles)
  for i = 1, #all, 2 do
    if all[i + 1] == 'OWNER' then
      count, found = count + 1, found or all[i] == member
    end
  end
  return found and count == 1
end

-- Ends the invitations that a member has sent, since they are no longer in the group. Returns who was invited.
local function end_invitations(invitations, member)
  local ended = redis.call('ZRANGEBYSCORE', invitations, member, member)
  for _, invited in ipairs(ended) do
    redis.call('ZREM', invitations, invited)
  end
  return ended
end

-- Ends the role of a member who is in a group no longer, and the invitations that they sent. Adds all whom that
-- concerns to `settled`.
local function put_out(roles, invitations, member, settled)
  redis.call('HDEL', roles, member)
  settled[#settled + 1] = member
  for _, invited in ipairs(end_invitations(invitations, member)) do
    settled[#settled + 1] = invited
  end
end

-- Commits the job that settles members after a change: their indexes and notifications, and the directory. `shown` is
-- 'hide' or 'unhide' when the group's posts are out of strangers' sight from now on, or no longer so. `barred` are the
-- members who were banned, or are no longer. Returns the job's id and body.
local function commit_settling(jobs, minted, partition, group, members, shown, barred)
  return commit_job(jobs, minted, partition, 'group_members', {
    group = group, members = table.concat(members, ' '), shown = shown or '', barred = barred and table.concat(barred, ' '),
  })
end

-- Logs a change of a post in a group's timeline, and wakes its live readers. The log keeps the newest change of each post,
-- and the newest `kept` of these. `floor` in it is the highest id ever trimmed.
local function log_group_change(changes, minted, partition, post, kept, channel)
  redis.call('ZADD', changes, str(mint(minted, partition)), post)
  local surplus = redis.call('ZCARD', changes) - kept
  if surplus > 0 then
    local last = redis.call('ZRANGE', changes, surplus - 1, surplus - 1, 'WITHSCORES')[2]
    redis.call('ZREMRANGEBYRANK', changes, 0, surplus - 1)
    redis.call('ZADD', changes, last, 'floor')
  end
  redis.call('SPUBLISH', channel, '')
end
