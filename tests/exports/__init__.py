"""Exports: links, what an archive contains and leaves out, and reading one back."""
