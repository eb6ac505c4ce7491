-- Withdraws all notifications of a member about a post that is gone.
-- KEYS: minted.
-- ARGV: mailboxes, member, post.
-- The key names the partition.
withdraw_about(mailbox(mailboxes, member), post)
return 1
