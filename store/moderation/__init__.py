"""Reports, the cases they make up, and the log of moderators' acts; what they are about is elsewhere."""
