-- Turns the second factor on, with new recovery codes, and ends every other session, all or nothing.
-- KEYS: credentials, sessions.
-- ARGV: salt (of the secret that the code was checked with), step (time step of the code), session (that goes on),
--       recovery_codes (digests, separated by spaces).
-- Returns the sessions ended, or CODE when another secret is to be confirmed by now, the address is not verified, or the
-- session has ended.
if redis.call('HGET', credentials, CredentialsField.TOTP_PENDING) ~= salt then
  return Refusal.CODE
end
if redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 0 then
  return Refusal.CODE -- older versions asked for no verified address
end
if redis.call('HEXISTS', sessions, session) == 0 then
  return Refusal.CODE
end
redis.call('HDEL', credentials, CredentialsField.TOTP_PENDING)
redis.call('HSET', credentials, CredentialsField.TOTP_SALT, salt, CredentialsField.TOTP_STEP, step,
  CredentialsField.RECOVERY_CODES, recovery_codes)
return end_others(sessions, session)
