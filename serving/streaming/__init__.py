"""Operations over websockets (graphql-transport-ws) and event streams (graphql-sse)."""
