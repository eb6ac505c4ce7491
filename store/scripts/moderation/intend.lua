-- Commits a job before the change that it is about, which is made in another slot. The job checks whether it was made.
-- KEYS: minted, jobs.
-- ARGV: partition, kind, body.
-- Returns the job's id.
local job = mint(minted, partition)
commit(jobs, job, kind, body)
return str(job)
