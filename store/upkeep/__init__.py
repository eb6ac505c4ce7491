"""What only operators' commands read and repair, a file per noun. What a request or job needs is in the noun's own."""
