"""What an export of a member's data contains, and the archive of it: no noun, no link, nothing about HTTP."""
