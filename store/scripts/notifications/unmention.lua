-- Removes the mention of a member by a post or comment that is gone.
-- KEYS mentions; ARGV mailboxes, member, author, post, comment or '0'
redis.call('ZREM', KEYS[1], ARGV[5] == '0' and ARGV[4] or ARGV[5] .. ':' .. ARGV[4])
withdraw(mailbox(ARGV[1], ARGV[2]), 'MENTION', ARGV[3], ARGV[4], ARGV[5])
return 1
