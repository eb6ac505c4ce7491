-- Counts notifications above the highest one marked read. KEYS notifications, state
return redis.call('ZCOUNT', KEYS[1], '(' .. (redis.call('HGET', KEYS[2], 'read') or '0'), '+inf')
