-- Sends a link that verifies an address, and remembers its token in place of an earlier one.
-- KEYS: credentials, mail_tokens, minted, outbox, mails.
-- ARGV: partition, address, digest, lifetime (s), mail (JSON).
-- Returns the address of the token that was replaced, or '', in a list; a refusal when the member is gone.
if redis.call('EXISTS', credentials) == 0 then
  return Refusal.GONE
end
local earlier = unexpired_token(mail_tokens, MailTokenField.VERIFICATION)
keep_token(mail_tokens, MailTokenField.VERIFICATION, digest, address, lifetime)
queue_mail(outbox, mails, mint(minted, partition), mail, address)
return {earlier and earlier.address or ''}
