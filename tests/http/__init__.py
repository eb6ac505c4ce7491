"""GraphQL over HTTP, and the page of GraphiQL."""
