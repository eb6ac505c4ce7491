"""Values kept until the server says that they changed. The only place where staleness is reasoned about."""
