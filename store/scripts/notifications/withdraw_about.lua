-- Withdraws all notifications of a member about a post that is gone.
-- KEYS any key of the partition; ARGV mailboxes, member, post
withdraw_about(mailbox(ARGV[1], ARGV[2]), ARGV[3])
return 1
