-- Creates a member whose names are reserved, with the job that makes the names permanent and the mail that verifies the
-- address.
-- KEYS: minted, jobs, user, credentials, home_state, active, mail_tokens, outbox, mails.
-- ARGV: partition, member, login, name, email, password_hash, role, day (since 1970), verified ('1' or ''), digest,
--       lifetime (s), mail (JSON).
-- `digest` is that of the token in the mail. It is '' without a mail.
-- Returns the job's id and body; false when the member exists already, because the step is repeated.
if redis.call('EXISTS', user) == 1 then
  return false
end
write_member(user, credentials, {
  login = login, name = name, email = email, password = password_hash, role = role, verified = verified,
})
redis.call('HSET', home_state, HomeField.FLOOR, 0)
redis.call('ZADD', active, day, member)
-- The job needs an id of its own. The member's id was minted before the password was hashed, and the stream may
-- already have newer jobs.
if digest ~= '' then
  keep_token(mail_tokens, MailTokenField.VERIFICATION, digest, email, lifetime)
  queue_mail(outbox, mails, mint(minted, partition), mail, email)
end
return {commit_job(jobs, minted, partition, 'names', {member = member, login = login, email = email})}
