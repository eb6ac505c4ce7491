import type { AnyVariables, TypedDocumentNode } from "@urql/core";
import { useEffect, useRef } from "react";
import { useClient } from "urql";

/** Hands each result of a subscription to a function, as long as the screen is open. */
export function useLiveEvents<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  take: (data: Data) => void,
): void {
  const client = useClient();
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  const key = JSON.stringify(variables);
  useEffect(() => {
    const { unsubscribe } = client
      .subscription(document, JSON.parse(key) as Variables)
      .subscribe(({ data }) => {
        if (data) latest.current(data);
      });
    return unsubscribe;
  }, [client, document, key]);
}
