-- Makes a dead job available to any worker at once. It continues from its last checkpoint.
-- KEYS jobs, dead jobs; ARGV job, idle time that is longer than a lease (ms)
-- Returns 1, 0 when the job is not dead.
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
local entry = ARGV[1] .. '-0'
redis.call('XCLAIM', KEYS[1], 'workers', 'perch', 0, entry, 'IDLE', ARGV[2], 'RETRYCOUNT', 0, 'FORCE', 'JUSTID')
return 1
