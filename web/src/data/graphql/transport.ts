import { freshToken, replaceToken } from "../session/refresh";

const UNAUTHENTICATED = 401;
const BUSY = new Set([429, 503]);
const PATIENCE_SECONDS = 5; // for which a request waits by itself when the server asks for it
const ATTEMPTS = 3;

/** Sends an operation with the member's token. Refreshes the token once when it is refused. */
export async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const token = await freshToken();
  const early = takeEarly(init?.body, token);
  const response = (await early) ?? (await patiently(input, authorized(init, token)));
  if (response.status !== UNAUTHENTICATED || token === null) return response;
  const next = await replaceToken(token);
  return next === null ? response : patiently(input, authorized(init, next));
}

/** Returns the answer to a request that the page sent before this client was loaded, or null. Each is taken once. */
function takeEarly(body: unknown, token: string | null): Promise<Response | null> | null {
  const early = window.perchEarly;
  const answer = early?.token === token ? early.answers.get(body as string) : undefined;
  early?.answers.delete(body as string);
  return answer?.then((response) => (response.ok ? response : null)).catch(() => null) ?? null;
}

/** Sends again after the seconds that `Retry-After` gives, where they are few. */
async function patiently(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(input, init);
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    if (!BUSY.has(response.status) || !(seconds <= PATIENCE_SECONDS) || attempt === ATTEMPTS) return response;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

function authorized(init: RequestInit | undefined, token: string | null): RequestInit {
  const headers = new Headers(init?.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}
