"""What may be damaged in a store by hand."""
