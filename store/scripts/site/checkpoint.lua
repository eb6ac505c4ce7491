-- Saves a job's progress and renews its lease.
-- KEYS: jobs, progress.
-- ARGV: job, cursor.
-- Returns 1; 0 when the job is finished or overtaken by a delete.
-- A job that progresses is not failing, so its attempts are counted from zero again.
local held = redis.call('XCLAIM', jobs, 'workers', 'perch', 0, job .. '-0', 'RETRYCOUNT', 0, 'JUSTID')
if #held == 0 then
  return 0
end
redis.call('HSET', progress, job, cursor)
return 1
