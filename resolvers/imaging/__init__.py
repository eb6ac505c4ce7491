"""Makes the stored forms of a picture from an uploaded file, in a child process with limits; knows nothing of Redis."""
