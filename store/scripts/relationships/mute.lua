-- Mutes members, or ends mutes, with the job that informs live homes.
-- KEYS: minted, jobs, user, muted.
-- ARGV: partition, member, max_muted, kind ('mute' or 'unmute'), mailboxes, others...
-- Returns the job's id and body ('' when nothing changed), then per member FULL, or '' for who is not refused.
if redis.call('EXISTS', user) == 0 then
  return redis.error_reply('PERCH no such member')
end
local result, edges = {'', ''}, {}
local count = redis.call('ZCARD', muted)
for _, other in ipairs(others) do
  local known = redis.call('ZSCORE', muted, other)
  result[#result + 1] = ''
  if known and kind == 'unmute' then
    redis.call('ZREM', muted, other)
    edges[#edges + 1] = {other, known}
  elseif not known and kind == 'mute' and count >= tonumber(max_muted) then
    result[#result] = Refusal.FULL
  elseif not known and kind == 'mute' then
    local id = str(mint(minted, partition))
    redis.call('ZADD', muted, id, other)
    withdraw_by(mailbox(mailboxes, member), other)
    count = count + 1
    edges[#edges + 1] = {other, id}
  end
end
if #edges > 0 then
  result[1], result[2] = commit_job(jobs, minted, partition, kind, {member = member, edges = edges})
end
return result
