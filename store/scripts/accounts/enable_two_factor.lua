-- Stores the salt of a second factor's secret until the member confirms that their app has it.
-- KEYS: credentials.
-- ARGV: checked_hash (of the password that was checked), salt.
-- Returns 1, ENABLED when the member has a second factor, UNVERIFIED when nobody has shown that the address is theirs, or
-- CHANGED.
if redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
if redis.call('HEXISTS', credentials, CredentialsField.TOTP_SALT) == 1 then
  return Refusal.ENABLED
end
if redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 0 then
  return Refusal.UNVERIFIED
end
redis.call('HSET', credentials, CredentialsField.TOTP_PENDING, salt)
return 1
