-- Deletes a member. From this step on they are not seen and cannot do anything. A job removes the rest.
-- KEYS: minted, jobs, active, user, credentials, sessions, tokens, home, home_state, sources, candidates, newest,
-- images.
-- ARGV: partition, member, checked_hash (of the password that was checked), image_prefix.
-- Returns the job's id and body and the sessions ended, or CHANGED, also without the member.
if redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
local pending = unexpired_token(tokens, MailTokenField.VERIFICATION)
local avatar, header = unpack(redis.call('HMGET', user, UserField.AVATAR, UserField.HEADER))
local fields = {
  member = member,
  login = redis.call('HGET', user, UserField.LOGIN) or '',
  email = redis.call('HGET', credentials, CredentialsField.EMAIL) or '',
  was_verified = redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 1,
  pending_email = pending and pending.address or '',
  objects = drop_images(image_prefix, images, (avatar or '') .. (header or '')),
}
local ended = redis.call('HKEYS', sessions)
redis.call('DEL', user, credentials, sessions, tokens, home, home_state, sources, candidates, newest)
redis.call('ZREM', active, member)
local id = mint(minted, partition)
local body = commit(jobs, id, 'delete_account', fields)
return {str(id), body, ended}
