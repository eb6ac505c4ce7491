-- Takes an address from a member who never verified it, with the job that releases it. Its links stop working.
-- KEYS: minted, jobs, credentials, mail_tokens.
-- ARGV: partition, member, address.
-- Returns the job's id and body; false when the member has another address by now, or has verified this one.
if
  redis.call('HGET', credentials, CredentialsField.EMAIL) ~= address
  or redis.call('HEXISTS', credentials, CredentialsField.VERIFIED) == 1
then
  return false
end
redis.call('HSET', credentials, CredentialsField.EMAIL, '')
redis.call('HDEL', mail_tokens, MailTokenField.RESET)
local waiting = unexpired_token(mail_tokens, MailTokenField.VERIFICATION)
if waiting and waiting.address == address then
  redis.call('HDEL', mail_tokens, MailTokenField.VERIFICATION)
end
return {commit_job(jobs, minted, partition, 'names', {member = member, email = '', old_email = address})}
