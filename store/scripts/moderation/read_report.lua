-- Reads a report with its case.
-- KEYS: report.
-- ARGV: case_prefix, case_reports_prefix.
-- Returns case, reporter, reason, note, subject, author, state, resolver and number of reports; {} without the report.
local case, reporter, reason, note = unpack(redis.call(
  'HMGET', report, ReportField.CASE, ReportField.REPORTER, ReportField.REASON, ReportField.NOTE
))
local subject, author, state, resolver = unpack(redis.call(
  'HMGET', case_prefix .. (case or ''), CaseField.SUBJECT, CaseField.AUTHOR, CaseField.STATE, CaseField.RESOLVER
))
if not case or not subject then
  return {}
end
local count = redis.call('ZCARD', case_reports_prefix .. case)
return {case, reporter, reason, note, subject, author, state, resolver or '0', count}
