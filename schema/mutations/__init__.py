"""Every mutation: one file for each noun."""
