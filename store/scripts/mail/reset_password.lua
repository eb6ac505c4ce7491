-- Uses a token that resets a password: sets the new one, ends every session and begins a new one, all or nothing.
-- The member has followed a link sent to their address, so it is verified, too.
-- KEYS: credentials, sessions, tokens, minted, outbox, mails.
-- ARGV: partition, digest, new_hash, session, record (JSON of the session), mail (JSON).
-- Returns the sessions ended; false when the token is forged, used, replaced or expired, or belongs to an old address.
local email = redis.call('HGET', credentials, CredentialsField.EMAIL)
local token = email and use_token(tokens, MailTokenField.RESET, digest)
if not token or token.address ~= email then
  return false
end
redis.call('HSET', credentials, CredentialsField.PASSWORD, new_hash, CredentialsField.VERIFIED, '1')
local ended = redis.call('HKEYS', sessions)
redis.call('DEL', sessions)
redis.call('HSET', sessions, session, record)
queue_mail(outbox, mails, mint(minted, partition), mail, email)
return ended
