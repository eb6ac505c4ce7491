"""Reports, decisions and the moderation log, as tests ask for them, and the jobs of moderation."""
