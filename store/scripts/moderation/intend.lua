-- Commits a job before the change that it is about, which is made in another slot. The job checks whether it was made.
-- KEYS: minted, jobs.
-- ARGV: partition, promotion, is_end ('1', or ''), act (JSON).
-- Returns the job's id and body.
return {commit_job(jobs, minted, partition, 'intended_act', {
  promotion = promotion, is_end = is_end ~= '' and is_end or nil, intended = cjson.decode(act),
})}
