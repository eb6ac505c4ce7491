"""A home as a pure function of follows, posts and plain reposts. Its pages are read in `reading`."""
