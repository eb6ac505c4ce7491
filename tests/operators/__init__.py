"""Everything that an operator runs: the server, its commands, its processes, and its documentation."""
