"""A member's home as a pure function of follows, posts and plain reposts: building it, and merging follows into it."""
