-- Saves a job's progress and renews its lease. KEYS jobs, progress; ARGV job, cursor
-- A job that progresses is not failing, so its attempts are counted from zero again.
-- Returns 1; 0 when the job is finished or overtaken by a delete.
local held = redis.call('XCLAIM', KEYS[1], 'workers', 'perch', 0, ARGV[1] .. '-0', 'RETRYCOUNT', 0, 'JUSTID')
if #held == 0 then
  return 0
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
