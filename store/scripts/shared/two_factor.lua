-- Shared by all scripts, after the prelude: the second factor.
--
-- Returns whether a member's code may be used, and uses it up. A member without a second factor needs none.
-- `salt` is that of the secret with which the code was checked, '' without a code. A code is accepted once: its time step
-- must be later than that of the code before. `recovery` is the digest of a recovery code, '' for another code.
local function use_code(credentials, salt, step, recovery)
  local current = redis.call('HGET', credentials, CredentialsField.TOTP_SALT)
  if not current then
    return true
  elseif salt ~= current then
    return false
  elseif recovery == '' then
    if tonumber(step) <= tonumber(redis.call('HGET', credentials, CredentialsField.TOTP_STEP) or '0') then
      return false
    end
    redis.call('HSET', credentials, CredentialsField.TOTP_STEP, step)
    return true
  end
  local left, is_known = {}, false
  for digest in string.gmatch(redis.call('HGET', credentials, CredentialsField.RECOVERY_CODES) or '', '%S+') do
    if digest == recovery then
      is_known = true
    else
      left[#left + 1] = digest
    end
  end
  if is_known then
    redis.call('HSET', credentials, CredentialsField.RECOVERY_CODES, table.concat(left, ' '))
  end
  return is_known
end
