import { useEffect, useRef, useState } from "react";
import { useClient } from "urql";
import { graphql } from "../../data/graphql/tada";
import type { Focus } from "./fragments";
import { type Purpose, Refused, upload } from "./upload";

export const MOST = 4; // pictures of a post or message

const FOUND = graphql(
  `query FoundUpload($id: ID!) { upload(id: $id) { id state image { id small: url(size: SMALL) } } }`,
);

/** A picture of a draft, as it is kept: its file is on the server. */
export interface KeptPicture {
  uploadId: string;
  alt: string;
  focus: Focus | null;
}

/** A picture that was chosen. `share` of its bytes were sent; it has an id when it is ready. */
export interface Chosen {
  key: string;
  preview: string;
  share: number;
  alt: string;
  focus: Focus | null;
  uploadId?: string;
  error?: string;
  file?: File;
}

export interface Uploads {
  chosen: Chosen[];
  isReady: boolean;
  add: (files: Iterable<File>) => void;
  change: (key: string, change: Partial<Chosen>) => void;
  remove: (key: string) => void;
  retry: (key: string) => void;
  clear: () => void;
}

/** Uploads pictures as they are chosen, and tells what a draft has to keep of them. It begins with those of a draft. */
export function useUploads(
  purpose: Purpose,
  kept: readonly KeptPicture[],
  onChange: (kept: KeptPicture[]) => void,
  most = MOST,
): Uploads {
  const client = useClient();
  const [chosen, setChosen] = useState<Chosen[]>(() =>
    kept.map((one) => ({ ...one, key: one.uploadId, preview: "", share: 1 })),
  );
  const latest = useRef(chosen);
  const told = useRef<readonly KeptPicture[]>(kept);
  const sending = useRef(new Map<string, AbortController>());

  function set(next: Chosen[]) {
    latest.current = next;
    setChosen(next);
    const now = next.flatMap(({ uploadId, alt, focus }) => (uploadId ? [{ uploadId, alt, focus }] : []));
    if (JSON.stringify(now) === JSON.stringify(told.current)) return; // only the progress has changed
    told.current = now;
    onChange(now);
  }

  const change = (key: string, changed: Partial<Chosen>) =>
    set(latest.current.map((one) => (one.key === key ? { ...one, ...changed } : one)));

  async function send(key: string, file: File) {
    const sender = new AbortController();
    sending.current.set(key, sender);
    const onProgress = (share: number) => change(key, { share });
    try {
      change(key, {
        uploadId: await upload(client, file, purpose, { onProgress, signal: sender.signal }),
        share: 1,
      });
    } catch (error) {
      if (!sender.signal.aborted) change(key, { error: error instanceof Refused ? error.code : "network" });
    }
  }

  function remove(key: string) {
    sending.current.get(key)?.abort();
    set(latest.current.filter((one) => one.key !== key));
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a draft is read once, when its form opens
  useEffect(() => {
    for (const { uploadId } of kept) {
      client.query(FOUND, { id: uploadId }, { requestPolicy: "network-only" }).then(({ data, error }) => {
        const preview = data?.upload?.image?.small;
        if (preview) change(uploadId, { preview });
        else if (!error) remove(uploadId); // the server has removed it: nothing attached it in time
      });
    }
    const senders = sending.current;
    return () => {
      for (const sender of senders.values()) sender.abort();
    };
  }, []);

  return {
    chosen,
    isReady: chosen.every(({ uploadId }) => uploadId !== undefined),
    add: (files) => {
      const room = Math.max(0, most - latest.current.length);
      const added = [...files].filter(({ type }) => type.startsWith("image/")).slice(0, room);
      for (const file of added) {
        const key = crypto.randomUUID();
        set([
          ...latest.current,
          { key, file, preview: URL.createObjectURL(file), share: 0, alt: "", focus: null },
        ]);
        void send(key, file);
      }
    },
    change,
    remove,
    retry: (key) => {
      const file = latest.current.find((one) => one.key === key)?.file;
      if (!file) return;
      change(key, { error: undefined, share: 0 });
      void send(key, file);
    },
    clear: () => set([]),
  };
}

/** Returns pictures as mutations take them. */
export function imageInputs(kept: readonly KeptPicture[] = []): KeptPicture[] {
  return kept.map(({ uploadId, alt, focus }) => ({ uploadId, alt, focus }));
}

/** Returns the handlers by which files are dropped on an element or pasted into it. */
export function takesFiles(add: Uploads["add"]) {
  return {
    onDragOver: (event: React.DragEvent) => event.preventDefault(),
    onDrop: (event: React.DragEvent) => {
      if (event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      add(event.dataTransfer.files);
    },
    onPaste: (event: React.ClipboardEvent) => {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      add(event.clipboardData.files);
    },
  };
}
