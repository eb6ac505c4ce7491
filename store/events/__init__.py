"""The event log: what happened on the site, and its readers."""
