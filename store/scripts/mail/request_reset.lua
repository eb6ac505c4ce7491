-- Sends a link that resets a password, if the member has the address. Otherwise the same commands run on keys of nobody,
-- and are undone. So both cases take the same time.
-- KEYS: credentials, mail_tokens, minted, outbox, mails.
-- ARGV: partition, address, digest, lifetime (s), delay (ms), mail (JSON).
-- Returns 1 when a mail is sent, else 0.
local owned = redis.call('HGET', credentials, CredentialsField.EMAIL)
if owned and string.lower(owned) ~= string.lower(address) then
  return 0 -- the address was changed since it was looked up
end
local id = mint(minted, partition)
keep_token(mail_tokens, MailTokenField.RESET, digest, owned or address, lifetime)
queue_mail(outbox, mails, id, mail, owned or address, delay)
if owned then
  return 1
end
redis.call('DEL', mail_tokens)
redis.call('HDEL', mails, str(id))
redis.call('ZREM', outbox, str(id))
return 0
