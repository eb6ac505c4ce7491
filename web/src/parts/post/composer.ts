import { useSyncExternalStore } from "react";
import type { Body } from "./fragments";

/** What a new post is about. */
export type About =
  | { kind: "post"; group?: { id: string; name: string } }
  | { kind: "reply" | "quote"; post: Body };

/** Names what a new post is about, for its draft. */
export function subjectOf(about: About): string {
  if (about.kind !== "post") return `${about.kind} ${about.post.id}`;
  return about.group ? `post in ${about.group.id}` : "post";
}

let open: About | null = null;
const listeners = new Set<() => void>();

function compose(about: About | null): void {
  open = about;
  for (const listener of listeners) listener();
}

/** Returns what is being composed, and a function that opens or closes the composer. */
export function useComposer(): [About | null, (about: About | null) => void] {
  return [useSyncExternalStore(subscribe, () => open), compose];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
