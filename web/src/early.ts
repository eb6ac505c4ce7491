// Asks for the first posts while the browser still loads the client. It is a script of its own, and imports nothing
// that the client shares: else it would wait for the same files.
import { explore, home } from "virtual:first-requests";

const SAFE_MS = 30_000; // a token that expires sooner is refreshed by the client first

declare global {
  interface Window {
    /** Requests that were sent early, by their bodies, and the token that they were sent with. */
    perchEarly?: { token: string | null; answers: Map<string, Promise<Response>> };
  }
}

const session = JSON.parse(localStorage.getItem("perch.session") ?? "null") as {
  accessToken: string;
  expiresAt: string;
} | null;
const bodies =
  location.pathname === "/explore" || (location.pathname === "/" && session === null)
    ? explore
    : location.pathname === "/"
      ? home
      : [];

if (session === null || Date.parse(session.expiresAt) - Date.now() > SAFE_MS) {
  const token = session?.accessToken ?? null;
  const headers = {
    "content-type": "application/json",
    accept: "application/graphql-response+json, application/json",
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  const answers = bodies.map((body) => [body, fetch("/graphql", { method: "POST", headers, body })] as const);
  for (const [, answer] of answers) answer.catch(() => {}); // the client sends it again
  window.perchEarly = { token, answers: new Map(answers) };
}
