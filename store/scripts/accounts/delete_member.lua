-- Deletes a member. From this step on they are not seen and cannot do anything. A job removes the rest.
-- KEYS: minted, jobs, active, user, credentials, sessions, mail_tokens, home, home_state, sources, candidates, newest,
-- images.
-- ARGV: partition, member, checked_hash (of the password that was checked), image_prefix.
-- Returns the job's id and body and the sessions ended, or CHANGED, also without the member.
if redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
local pending = unexpired_token(mail_tokens, MailTokenField.VERIFICATION)
local avatar, header, login = unpack(redis.call('HMGET', user, UserField.AVATAR, UserField.HEADER, UserField.LOGIN))
local email, verified =
  unpack(redis.call('HMGET', credentials, CredentialsField.EMAIL, CredentialsField.VERIFIED))
local objects = drop_images(image_prefix, images, (avatar or '') .. (header or ''))
local ended = redis.call('HKEYS', sessions)
-- The deletion comes first, because it frees memory. So a script that began with it may write the job when memory
-- is used up.
redis.call('DEL', user, credentials, sessions, mail_tokens, home, home_state, sources, candidates, newest)
redis.call('ZREM', active, member)
local id, body = commit_job(jobs, minted, partition, 'delete_account', {
  member = member,
  login = login or '',
  email = email or '',
  was_verified = verified and true or false,
  pending_email = pending and pending.address or '',
  objects = objects,
})
return {id, body, ended}
