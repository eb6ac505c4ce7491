"""What Perch costs, alone and beside others."""
