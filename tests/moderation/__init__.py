"""Reports, moderators and the log of their acts."""
