-- Stores the salt of a second factor's secret until the member confirms that their app has it.
-- KEYS: credentials.
-- ARGV: checked_hash (of the password that was checked), salt.
-- Returns 'ok'; 'on' when the member has a second factor; 'unverified' when nobody has shown that the address is theirs;
-- 'changed' when the password has changed since the check.
if redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return 'changed'
end
if redis.call('HEXISTS', credentials, CredentialsField.TOTP_SALT) == 1 then
  return 'on'
end
if redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 0 then
  return 'unverified'
end
redis.call('HSET', credentials, CredentialsField.TOTP_PENDING, salt)
return 'ok'
