"""A home as a pure function of follows, posts and plain reposts. Not how its pages are read: see `reading`."""
