-- Trims a member's notifications after their bound was lowered. KEYS any key of the partition; ARGV mailboxes, member
local box = mailbox(ARGV[1], ARGV[2])
bound_log(box, box.notifications)
bound_log(box, box.withdrawn)
return 1
