"""Reads and repairs of operators' commands, a file per noun. Requests and jobs use the files in `store` itself."""
