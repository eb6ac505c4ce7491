-- Sets a new password, ends every other session and gives this session a new refresh token, all or nothing.
-- A mail tells the member, and a link that resets the old password stops working.
-- KEYS: credentials, sessions, mail_tokens, minted, outbox, mails.
-- ARGV: checked_hash (of the password that was checked), new_hash, session, token (digest of its refresh token),
--       now (ms since 1970), expires (ms since 1970), partition, mail (JSON).
-- Returns the sessions ended, or CHANGED, also when the session has ended.
local text = redis.call('HGET', sessions, session)
if not text or redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
redis.call('HSET', credentials, CredentialsField.PASSWORD, new_hash)
local ended = end_others(sessions, session)
redis.call('HDEL', mail_tokens, MailTokenField.RESET)
queue_mail(outbox, mails, mint(minted, partition), mail, redis.call('HGET', credentials, CredentialsField.EMAIL))
local record = cjson.decode(text)
record.token, record.expires, record.previous, record.rotated = token, tonumber(expires), '', tonumber(now)
redis.call('HSET', sessions, session, cjson.encode(record))
return ended
