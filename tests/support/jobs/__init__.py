"""Jobs to be killed half-way: each makes a change and returns its job."""
