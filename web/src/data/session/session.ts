import { useSyncExternalStore } from "react";

/** What a member's browser keeps of a session. Every tab of it shares this. */
export interface Session {
  userId: string;
  login: string;
  accessToken: string;
  refreshToken: string;
  expiresAt: string;
}

const SESSION = "perch.session";
const DEVICE = "perch.device";

let held: { text: string | null; session: Session | null } = { text: null, session: null };
const listeners = new Set<() => void>();

/** Returns the session, as it is stored now: another tab may have refreshed or ended it. */
export function currentSession(): Session | null {
  const text = localStorage.getItem(SESSION);
  if (text !== held.text) held = { text, session: text === null ? null : (JSON.parse(text) as Session) };
  return held.session;
}

export function keepSession(session: Session): void {
  localStorage.setItem(SESSION, JSON.stringify(session));
  for (const listener of listeners) listener();
}

/** Forgets the session in every tab. The device token stays: with it, strangers' guesses do not delay a log-in. */
export function forgetSession(): void {
  localStorage.removeItem(SESSION);
  for (const listener of listeners) listener();
}

export function deviceToken(): string | null {
  return localStorage.getItem(DEVICE);
}

export function keepDeviceToken(token: string): void {
  localStorage.setItem(DEVICE, token);
}

export function useSession(): Session | null {
  return useSyncExternalStore(subscribe, currentSession);
}

function subscribe(listener: () => void): () => void {
  const hear = (event: StorageEvent) => {
    if (event.key === SESSION || event.key === null) listener();
  };
  listeners.add(listener);
  addEventListener("storage", hear); // other tabs
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", hear);
  };
}
