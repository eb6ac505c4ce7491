-- Saves a job's progress and renews its lease.
-- KEYS: jobs, progress.
-- ARGV: job, cursor.
-- Returns what `save_progress` does.
return save_progress(jobs, progress, job, cursor)
