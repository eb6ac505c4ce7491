import type { TypedDocumentNode } from "@urql/core";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useOnLive } from "../../data/graphql/live";
import controls from "../ui/controls.module.css";
import { Failed } from "./Failed";
import { Missing } from "./Missing";
import { Waiting } from "./Waiting";

/** A page of a list, in the shape that every connection of the API has. */
export interface Connection<Row> {
  nodes: readonly Row[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

interface PagedListProps<Data, Row> {
  /** Reads one page. It takes the variable `after`, beside those of the list. */
  // biome-ignore lint/suspicious/noExplicitAny: each list has variables of its own beside `after`
  document: TypedDocumentNode<Data, any>;
  variables?: Record<string, unknown>;
  rows: (data: Data) => Connection<Row> | null | undefined;
  /** What is shown in place of an empty list. */
  empty: ReactNode;
  /** What is shown above the first page. */
  above?: (data: Data) => ReactNode;
  /** Draws one row, which is an `li` with a key. */
  children: (row: Row) => ReactNode;
  /** Whether a subscription of the whole page keeps it up to date. */
  isLive?: boolean;
  after?: string | null;
}

/** A list page by page. The next page is read when the member asks for it. */
export function PagedList<Data, Row>(props: PagedListProps<Data, Row>) {
  const { document, variables, rows, empty, above, children, isLive, after = null } = props;
  const [{ data, error, fetching }, again] = useQuery({
    query: document,
    variables: { ...variables, after },
    requestPolicy: "cache-and-network",
  });
  useOnLive(() => isLive && again({ requestPolicy: "network-only" }), true);
  const page = data && rows(data);
  if (!page) {
    if (fetching) return <Waiting />;
    // The API answers null, or FORBIDDEN, where the viewer may not see a list.
    const isRefused = error?.graphQLErrors.some(({ extensions }) => extensions.code === "FORBIDDEN");
    return isRefused || (data && !error) ? <Missing /> : <Failed error={error} onRetry={again} />;
  }
  return (
    <>
      {after === null && above?.(data)}
      {after === null && page.nodes.length === 0 && <div className={controls.notice}>{empty}</div>}
      <ul>{page.nodes.map(children)}</ul>
      {page.pageInfo.hasNextPage && (
        <More>
          <PagedList {...props} after={page.pageInfo.endCursor} />
        </More>
      )}
    </>
  );
}

/** A button that gives way to the next page. */
export function More({ label, children }: { label?: string; children: ReactNode }) {
  const t = useTranslations("feed");
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return children;
  return (
    <div className={controls.notice}>
      <button type="button" className={controls.button} onClick={() => setOpen(true)}>
        {label ?? t("more")}
      </button>
    </div>
  );
}
