"""The checks of verify, a file per noun, and what else only operators' commands do. Requests use `store` itself."""
