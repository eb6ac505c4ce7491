"""The home timeline: its contents, its bounds, its delivery, and what reading it costs."""
