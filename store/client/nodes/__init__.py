"""The servers that Perch is connected to: one, or the nodes of a cluster."""
