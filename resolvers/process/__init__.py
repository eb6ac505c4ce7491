"""What a process has once, shared by its operations: services, tokens, answers, broadcasts."""
