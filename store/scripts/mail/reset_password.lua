-- Uses a token that resets a password: sets the new one, ends every session and begins a new one, all or nothing.
-- The member has followed a link sent to their address, so it is verified, too. If it was not before, somebody else may
-- have signed up with it: then their second factor ends as well. A new address that waits is dropped in any case.
-- KEYS: credentials, sessions, mail_tokens, minted, outbox, mails.
-- ARGV: partition, digest, new_hash, session, record (JSON of the session), mail (JSON), code_salt, code_step,
--       recovery_code.
-- The last three arguments are those of `use_code`.
-- Returns the sessions ended. STALE says that the token is forged, used, replaced or expired, or belongs to an old address.
-- CODE says that the second factor is missing, or may not be used any more. The token then works on.
local email = redis.call('HGET', credentials, CredentialsField.EMAIL)
local token = email and unexpired_token(mail_tokens, MailTokenField.RESET)
if not token or token.digest ~= digest or token.address ~= email then
  return Refusal.STALE
end
if redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 0 then
  redis.call('HDEL', credentials, CredentialsField.TOTP_SALT, CredentialsField.TOTP_STEP,
    CredentialsField.RECOVERY_CODES, CredentialsField.TOTP_PENDING)
elseif not use_code(credentials, code_salt, code_step, recovery_code) then
  return Refusal.CODE
end
redis.call('HDEL', mail_tokens, MailTokenField.RESET, MailTokenField.VERIFICATION)
redis.call('HSET', credentials, CredentialsField.PASSWORD, new_hash, CredentialsField.VERIFIED, '1')
local ended = redis.call('HKEYS', sessions)
redis.call('DEL', sessions)
redis.call('HSET', sessions, session, record)
queue_mail(outbox, mails, mint(minted, partition), mail, email)
return ended
