import { useSyncExternalStore } from "react";

// Posts that the member has deleted here: a list that was read before does not show them any more.
let removed: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

export function useRemoved(): ReadonlySet<string> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => removed,
  );
}

export function remove(id: string): void {
  removed = new Set([...removed, id]);
  for (const listener of listeners) listener();
}
