"""Reading in four steps: ids → records → rules → page. Not which ids a list has: its noun knows."""
