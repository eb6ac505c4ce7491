"""Who sees what, by every path, stored and live."""
