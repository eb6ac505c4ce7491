"""What only operators' commands read and repair: the checks of verify, a file per noun. Requests use `store` itself."""
