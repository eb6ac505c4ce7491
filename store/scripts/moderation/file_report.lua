-- Files a report in the open case of its subject, which begins with the first report.
-- KEYS: minted, open_cases, cases (the open ones).
-- ARGV: partition, subject, author, reporter, reason, note, messages (JSON or ''), report_prefix, case_prefix,
-- case_reports_prefix, report_messages_prefix, evidence_prefix, pictured... (messages with pictures).
-- Returns {report}, or REPORTED when the reporter has an open report of the subject.
local case = redis.call('HGET', open_cases, subject)
if case and redis.call('ZSCORE', case_reports_prefix .. case, reporter) then
  return Refusal.REPORTED
end
if not case then
  case = str(mint(minted, partition))
  redis.call('HSET', case_prefix .. case, CaseField.SUBJECT, subject, CaseField.AUTHOR, author, CaseField.STATE, 'OPEN')
  redis.call('HSET', open_cases, subject, case)
end
local report = str(mint(minted, partition))
redis.call('HSET', report_prefix .. report, ReportField.CASE, case, ReportField.REPORTER, reporter, ReportField.REASON,
  reason, ReportField.NOTE, note)
redis.call('ZADD', case_reports_prefix .. case, report, reporter)
redis.call('ZADD', cases, redis.call('ZCARD', case_reports_prefix .. case), case)
if messages ~= '' then
  redis.call('SET', report_messages_prefix .. report, messages)
end
for _, message in ipairs(pictured) do
  redis.call('HSET', evidence_prefix .. message, case, '')
end
return {report}
