"""An operation from document to result: documents, costs, limits, errors, sharing. Nothing of Perch's types."""
