-- Makes a dead job available to any worker at once. It continues from its last checkpoint.
-- KEYS: jobs, dead_jobs.
-- ARGV: job, idle (ms, longer than a lease).
-- Returns 1, 0 when the job is not dead.
if redis.call('ZREM', dead_jobs, job) == 0 then
  return 0
end
redis.call('XCLAIM', jobs, 'workers', 'perch', 0, job .. '-0', 'IDLE', idle, 'RETRYCOUNT', 0, 'FORCE', 'JUSTID')
return 1
