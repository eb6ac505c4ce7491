"""What is remembered: Redis and nothing else."""
