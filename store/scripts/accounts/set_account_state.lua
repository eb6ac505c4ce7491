-- Makes a member private or suspended, or ends that, with the job that moves their published posts.
-- KEYS: minted, jobs, user, credentials, sessions.
-- ARGV: partition, member, state ('private' or 'suspended'), wanted ('1' to begin it, '' to end it),
-- rank? (of who acts on another member), act? (JSON, which the job logs).
-- Returns the job's id and body and the sessions ended; {} without a change or the member; or OUTRANKED.
if redis.call('EXISTS', user) == 0 then
  return {}
end
if rank and not is_below(credentials, rank) then
  return Refusal.OUTRANKED
end
local is = redis.call('HEXISTS', user, state) == 1
if is == (wanted == '1') then
  return {}
end
local ended = {}
local other = state == UserField.SUSPENDED and UserField.PRIVATE or UserField.SUSPENDED
if is then
  redis.call('HDEL', user, state)
else
  redis.call('HSET', user, state, '1')
end
if state == UserField.SUSPENDED then
  if is then
    redis.call('HDEL', credentials, CredentialsField.SUSPENDED)
  else
    redis.call('HSET', credentials, CredentialsField.SUSPENDED, '1')
    ended = redis.call('HKEYS', sessions)
    redis.call('DEL', sessions)
  end
end
-- While the other state holds, nothing changes for those who are neither followers nor moderators.
local is_apart = redis.call('HEXISTS', user, other) == 1
local id, body = commit_job(jobs, minted, partition, 'privacy_change', {
  member = member, what = state, is_apart = is_apart, act = carried(act),
})
return {id, body, ended}
