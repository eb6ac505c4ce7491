-- Trims a member's notifications after their bound was lowered.
-- KEYS: minted.
-- ARGV: mailboxes, member.
-- The key names the partition.
local box = mailbox(mailboxes, member)
bound_log(box, box.notifications)
bound_log(box, Stem.withdrawn_notifications .. box.tag)
return 1
