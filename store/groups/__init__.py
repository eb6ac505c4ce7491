"""Groups and who is in them. The truth lies in the group's partition, and members have indexes that lead there."""
