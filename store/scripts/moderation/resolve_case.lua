-- Resolves the case of a report with all its reports, logs the decision, and commits the job that carries it out.
-- KEYS: minted, jobs, report, open_cases, cases (the open ones), resolved (those in the new state), log, head.
-- ARGV: partition, id (of the report), state, action, rank (of the resolver), oldest (act whose case is still listed),
-- actor, kind, note, text, case_prefix, moderation_act_prefix, removed_text_prefix, text_seconds, case_reports_prefix,
-- report_messages_prefix, evidence_prefix.
-- The job's body has the pictures that were kept as evidence for this case alone, those of each message on a line.
-- Returns {job, job body}, RESOLVED when somebody was faster, or GONE without the report.
local case = redis.call('HGET', report, ReportField.CASE)
if not case then
  return Refusal.GONE
end
local record = case_prefix .. case
local state_now, subject, author = unpack(redis.call(
  'HMGET', record, CaseField.STATE, CaseField.SUBJECT, CaseField.AUTHOR
))
if state_now ~= 'OPEN' then
  return Refusal.RESOLVED
end
local act = append_act(
  {
    minted = minted, log = log, head = head, partition = partition, act_prefix = moderation_act_prefix,
    text_prefix = removed_text_prefix, text_seconds = text_seconds,
  },
  {name = case, actor = actor, kind = kind, subject = subject, report = id, note = note, text = text}
)
redis.call('HSET', record, CaseField.STATE, state, CaseField.RESOLVER, actor)
redis.call('HDEL', open_cases, subject)
redis.call('ZREM', cases, case)
redis.call('ZREMRANGEBYSCORE', resolved, '-inf', oldest)
redis.call('ZADD', resolved, act, case)
local pictures = {}
for _, one in ipairs(redis.call('ZRANGE', case_reports_prefix .. case, 0, -1, 'WITHSCORES')) do
  -- Every other entry is a reporter, who has no copy of messages.
  for _, message in ipairs(cjson.decode(redis.call('GET', report_messages_prefix .. str(tonumber(one))) or '[]')) do
    local evidence = evidence_prefix .. str(message[1])
    if redis.call('HDEL', evidence, case) == 1 then
      local packed = redis.call('HGET', evidence, EvidenceField.PICTURES)
      if redis.call('HLEN', evidence) == (packed and 1 or 0) then
        redis.call('DEL', evidence)
        pictures[#pictures + 1] = packed or nil
      end
    end
  end
end
return {commit_job(jobs, minted, partition, 'resolve', {
  case = case, subject = subject, author = author, action = action, rank = rank, pictures = table.concat(pictures, '\n'),
})}
