import { useCallback } from "react";
import { useClient } from "urql";
import { graphql } from "../../data/graphql/tada";

const MARK = graphql(`
  mutation MarkRead($id: ID!) {
    markNotificationsRead(input: { upToId: $id }) {
      viewer { id unreadNotificationCount }
      userErrors { code message field }
    }
  }
`);

/** Returns a function that marks notifications read, up to one of them. */
export function useMarkRead(): (id: string) => Promise<void> {
  const client = useClient();
  return useCallback(
    async (id) => {
      await client.mutation(MARK, { id });
    },
    [client],
  );
}
