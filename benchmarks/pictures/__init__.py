"""Measurements of pictures: uploads, processing, what stored forms hold, links, and processes that are killed."""
