import type { Client } from "@urql/core";
import { graphql, type VariablesOf } from "../../data/graphql/tada";

const CREATE = graphql(`
  mutation CreateUpload($input: CreateUploadInput!) {
    createUpload(input: $input) { upload { id url } userErrors { code message field } }
  }
`);

const STATE = graphql(`subscription UploadState($id: ID!) { upload(id: $id) { id state error } }`);

const NO_CONTENT = 204;

export type Purpose = VariablesOf<typeof CREATE>["input"]["purpose"];

/** Why a picture was not taken: a code of the API, or `network`. */
export class Refused extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

export interface Progress {
  /** Called with the share of the bytes that were sent, 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/** Uploads a file, and returns the upload's id when its picture is ready. Raises Refused. */
export async function upload(
  client: Client,
  file: File,
  purpose: Purpose,
  { onProgress, signal }: Progress,
): Promise<string> {
  const input = { purpose, contentType: file.type, size: file.size };
  const { data } = await client.mutation(CREATE, { input });
  const created = data?.createUpload?.upload;
  if (!created?.url) throw new Refused(data?.createUpload?.userErrors[0]?.code ?? "network");
  await put(created.url, file, { onProgress, signal });
  await ready(client, created.id, signal);
  return created.id;
}

function put(url: string, file: File, { onProgress, signal }: Progress): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not say how much was sent
    const { pathname, search } = new URL(url, location.origin);
    request.open("PUT", pathname + search);
    request.setRequestHeader("content-type", file.type);
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    request.onload = () => (request.status === NO_CONTENT ? resolve() : reject(new Refused("network")));
    request.onerror = () => reject(new Refused("network"));
    request.onabort = () => reject(new Refused("aborted"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** Waits until the server has made the picture. The subscription begins with the state as it is. */
function ready(client: Client, id: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const { unsubscribe } = client.subscription(STATE, { id }).subscribe(({ data, error }) => {
      const state = data?.upload.state;
      if (state === "READY") end(resolve);
      else if (state === "FAILED") end(() => reject(new Refused(data?.upload.error ?? "INVALID")));
      else if (error) end(() => reject(new Refused("network")));
    });
    signal.addEventListener("abort", () => end(() => reject(new Refused("aborted"))));
    function end(settle: () => void) {
      queueMicrotask(unsubscribe); // the first result may come before the name is bound
      settle();
    }
  });
}
