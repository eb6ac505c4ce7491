-- Makes a leased mail due after a while. A sender renews its lease with this, too.
-- KEYS: outbox, mails.
-- ARGV: mail, lease (its end, as the sender knows it), wait (ms), record (JSON, or '' to keep it).
-- Returns when the mail is due (ms since 1970); false when the lease has been lost to another sender.
if redis.call('ZSCORE', outbox, mail) ~= lease then
  return false
end
local due = str(now_ms() + wait)
redis.call('ZADD', outbox, due, mail)
if record ~= '' then
  redis.call('HSET', mails, mail, record)
end
return due
