-- Notifies a member that a report of theirs was resolved; once for each report.
-- KEYS: user.
-- ARGV: mailboxes, member, report.
-- Returns 1, 0 without the member.
if redis.call('EXISTS', user) == 0 then
  return 0
end
notify(mailbox(mailboxes, member), 'REPORT_RESOLVED', '0', report)
return 1
