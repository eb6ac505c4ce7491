"""What the process refuses first when it has too much to do, and when that begins and ends."""
