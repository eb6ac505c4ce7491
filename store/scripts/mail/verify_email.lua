-- Uses a token that verifies an address. A new address takes effect, with the job that makes it permanent and a mail to
-- the old one.
-- KEYS: minted, jobs, credentials, mail_tokens, outbox, mails.
-- ARGV: partition, member, digest, mail (JSON).
-- Returns the job's id and body, {} when the address stays; STALE when the token is forged, used, replaced or expired.
local token = redis.call('EXISTS', credentials) == 1 and use_token(mail_tokens, MailTokenField.VERIFICATION, digest)
if not token then
  return Refusal.STALE
end
local old = redis.call('HGET', credentials, CredentialsField.EMAIL)
local was_verified = redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 1
redis.call('HSET', credentials, CredentialsField.EMAIL, token.address, CredentialsField.VERIFIED, '1')
if token.address == old then
  return {}
end
redis.call('HDEL', mail_tokens, MailTokenField.RESET)
queue_mail(outbox, mails, mint(minted, partition), mail, old)
return {commit_job(jobs, minted, partition, 'names', {
  member = member, email = token.address, old_email = old, was_verified = was_verified,
})}
