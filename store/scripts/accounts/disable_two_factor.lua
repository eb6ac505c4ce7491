-- Turns the second factor off, and uses up the code that allows it.
-- KEYS: credentials.
-- ARGV: checked_hash (of the password that was checked), code_salt, code_step, recovery_code.
-- The last three are those of `use_code`.
-- Returns 1, CHANGED, or CODE when the code may not be used any more.
if redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
if not use_code(credentials, code_salt, code_step, recovery_code) then
  return Refusal.CODE
end
redis.call('HDEL', credentials, CredentialsField.TOTP_SALT, CredentialsField.TOTP_STEP, CredentialsField.RECOVERY_CODES,
  CredentialsField.TOTP_PENDING)
return 1
