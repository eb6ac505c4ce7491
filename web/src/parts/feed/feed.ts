import { type Client, CombinedError, type RequestPolicy, type TypedDocumentNode } from "@urql/core";
import { wentBack } from "../page/scrolling";
import type { Edge, Entries } from "../post/fragments";
import { PAGE } from "./page";

const LIVE_MS = 100;
const NEWER = 50; // more new entries than this begin the list anew

/** Where a list comes from. Its document takes `first`, `after`, `last` and `before`. */
export interface Source<Data = unknown> {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each list has variables of its own beside those of a page
  document: TypedDocumentNode<Data, any>;
  entries: (data: Data) => Entries | null | undefined;
}

type Variables = Record<string, unknown>;

interface Slice {
  variables: Variables;
  entries: Entries | null;
  error: CombinedError | undefined;
  isLoading: boolean;
  policy: RequestPolicy;
  stop?: () => void;
}

/** A list as it is shown. */
export interface FeedView {
  edges: Edge[];
  isLoading: boolean;
  hasMore: boolean;
  error: CombinedError | undefined;
  /** New entries that wait to be shown. */
  waiting: number;
}

// Without a network, the cache answers in place of the server, and with nothing where nothing was read.
const LOST = new CombinedError({ networkError: new Error("no network") });

const EMPTY: FeedView = { edges: [], isLoading: true, hasMore: false, error: undefined, waiting: 0 };

/**
 * A list in slices, newest first. A slice begins where the one above it ends, so that there is never a hole between
 * them. Its entities are those of the cache: a like elsewhere is seen here.
 */
export class Feed<Data = unknown> {
  private slices: Slice[] = [];
  private waiting = new Map<string, string>(); // ids and cursors of entries that came live
  private changed = new Map<string, Edge>(); // entries that changed in their place
  private dropped = new Set<string>(); // ids of entries that went live
  private listeners = new Set<() => void>();
  private view = EMPTY;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private client: Client,
    private source: Source<Data>,
    private variables: Variables,
  ) {}

  snapshot = (): FeedView => this.view;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.open();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) for (const slice of this.slices) this.stop(slice);
    };
  };

  /** Fetches the next older page. */
  more = (): void => {
    const last = this.slices.at(-1);
    if (!last?.entries?.pageInfo.hasNextPage || last.isLoading) return;
    this.add("after", { first: PAGE, after: last.entries.pageInfo.endCursor });
  };

  /** Shows what is newer than the newest entry shown. */
  showNewer = (): void => {
    const before = this.slices[0]?.entries?.pageInfo.startCursor;
    this.waiting.clear();
    if (before) this.add("before", { last: NEWER, before });
    else this.reset();
  };

  /** Begins anew at the top. */
  reset = (policy: RequestPolicy = "network-only"): void => {
    for (const slice of this.slices) this.stop(slice);
    this.waiting.clear();
    this.changed.clear();
    this.dropped.clear();
    this.slices = [];
    this.add("after", { first: PAGE }, policy);
  };

  /** Counts what came while nobody listened. */
  check = async (): Promise<void> => {
    const top = this.slices[0];
    if (!top?.entries) return; // the first page is on its way
    const before = top.entries.pageInfo.startCursor;
    const page = before ? { last: NEWER, before } : { first: PAGE };
    const variables = { ...this.variables, ...page } as never;
    const { data } = await this.client.query<Data>(this.source.document, variables, {
      requestPolicy: "network-only",
    });
    for (const edge of (data && this.source.entries(data)?.edges) ?? []) this.put(edge);
  };

  /** Takes an entry that came live: a new one waits, and one that is shown changes in its place. */
  put = (edge: Edge): void => {
    const { id } = edge.node;
    this.dropped.delete(id);
    const shown = this.view.edges.find((one) => one.node.id === id);
    if (shown?.cursor === edge.cursor) this.changed.set(id, edge);
    else this.waiting.set(id, edge.cursor);
    this.tellSoon();
  };

  /** Takes an entry away. */
  drop = (id: string): void => {
    this.waiting.delete(id);
    this.dropped.add(id);
    this.tellSoon();
  };

  private open(): void {
    // Whoever goes back finds the list as it was. Whoever comes anew wants to see what is new.
    if (this.slices.length === 0 || !wentBack()) this.reset("cache-and-network");
    else for (const slice of this.slices) this.read({ ...slice, policy: "cache-first" }, slice);
  }

  private add(place: "before" | "after", page: Variables, policy: RequestPolicy = "cache-and-network"): void {
    const slice: Slice = {
      variables: { ...this.variables, ...page },
      entries: null,
      error: undefined,
      isLoading: true,
      policy,
    };
    this.slices = place === "before" ? [slice, ...this.slices] : [...this.slices, slice];
    this.read(slice, slice);
    this.tell();
  }

  private read({ variables, policy }: Slice, slice: Slice): void {
    const results = this.client.query<Data>(this.source.document, variables as never, {
      requestPolicy: policy,
    });
    const { unsubscribe } = results.subscribe((result) => {
      slice.error = result.error ?? (result.data || result.stale ? undefined : LOST);
      slice.isLoading = Boolean(result.stale) && !result.data;
      if (result.data) slice.entries = this.source.entries(result.data) ?? slice.entries;
      this.settle(slice, Boolean(result.stale));
      this.tell();
    });
    slice.stop = unsubscribe;
  }

  /** Keeps slices beside each other after one was read. */
  private settle(slice: Slice, isStale: boolean): void {
    if (!slice.entries || isStale) return;
    const { edges, pageInfo } = slice.entries;
    const place = this.slices.indexOf(slice);
    if ("before" in slice.variables) {
      if (pageInfo.hasPreviousPage) this.reset();
      else if (edges.length === 0) this.slices = this.slices.filter((one) => one !== slice);
      return;
    }
    const next = this.slices[place + 1];
    if (next && next.variables.after !== pageInfo.endCursor) {
      for (const older of this.slices.slice(place + 1)) this.stop(older);
      this.slices = this.slices.slice(0, place + 1);
    }
  }

  private stop(slice: Slice): void {
    slice.stop?.();
    slice.stop = undefined;
  }

  /** Tells of what comes live at most ten times a second, however much it is. */
  private tellSoon(): void {
    this.timer ??= setTimeout(() => this.tell(), LIVE_MS);
  }

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const seen = new Set(this.dropped);
    const edges = this.slices
      .flatMap((slice) => slice.entries?.edges ?? [])
      .filter(({ node }) => !seen.has(node.id) && seen.add(node.id))
      .map((edge) => {
        const changed = this.changed.get(edge.node.id);
        return changed?.cursor === edge.cursor ? { ...changed, node: edge.node } : edge;
      });
    for (const edge of edges)
      if (this.waiting.get(edge.node.id) === edge.cursor) this.waiting.delete(edge.node.id);
    const before = this.view.edges;
    const isSame = edges.length === before.length && edges.every((edge, place) => edge === before[place]);
    this.view = {
      edges: isSame ? before : edges, // what only counts draws no post again
      isLoading: this.slices.some((slice) => slice.isLoading),
      hasMore: this.slices.at(-1)?.entries?.pageInfo.hasNextPage ?? false,
      error: this.slices.find((slice) => slice.error)?.error,
      waiting: this.waiting.size,
    };
    for (const listener of this.listeners) listener();
  }
}
