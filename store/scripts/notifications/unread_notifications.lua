-- Counts notifications newer than the read mark. KEYS notifications, state
return redis.call('ZCOUNT', KEYS[1], '(' .. (redis.call('HGET', KEYS[2], 'read') or '0'), '+inf')
