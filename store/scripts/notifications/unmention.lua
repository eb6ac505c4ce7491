-- Removes the mention of a member by a post or comment that is gone.
-- KEYS: mentions.
-- ARGV: mailboxes, member, author, post, comment ('0' without one).
redis.call('ZREM', mentions, comment == '0' and post or comment .. ':' .. post)
withdraw(mailbox(mailboxes, member), 'MENTION', author, post, comment)
return 1
