-- Makes a member's indexes of groups agree with what they are in a group now, and notifies them of an invitation.
-- There is a notification as long as there is an invitation.
-- KEYS: minted, user, memberships, invited, banned_from.
-- ARGV: partition, member, group, is_indexed ('1' or ''), inviter (or ''), ban (its id, or ''), mailboxes.
-- `is_indexed` says whether the member is in the group or asks to join it.
-- Returns 1, 0 when the member is gone.
local box = mailbox(mailboxes, member)
if redis.call('EXISTS', user) == 0 then
  return 0
end
if is_indexed == '1' then
  if not redis.call('ZSCORE', memberships, group) then
    redis.call('ZADD', memberships, str(mint(minted, partition)), group)
  end
else
  redis.call('ZREM', memberships, group)
end
if ban ~= '' then
  redis.call('ZADD', banned_from, ban, group)
else
  redis.call('ZREM', banned_from, group)
end
local before = redis.call('ZSCORE', invited, group)
if before and before ~= inviter then
  redis.call('ZREM', invited, group)
  withdraw_about(box, group)
end
if inviter ~= '' then
  redis.call('ZADD', invited, inviter, group)
  notify(box, 'GROUP_INVITE', inviter, group)
end
return 1
