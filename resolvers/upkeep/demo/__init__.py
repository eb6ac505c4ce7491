"""An invented community to try Perch on."""
