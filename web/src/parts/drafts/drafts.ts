import type { KeptPicture } from "../pictures/useUploads";

/** A text that is not sent yet. Its key makes sending twice the same as sending once. */
export interface Draft {
  text: string;
  key: string;
  /** Pictures that wait on the server, which removes them after a day. What was typed about them is here. */
  pictures?: KeptPicture[];
}

/** Returns a member's draft about a subject, such as a reply to some post. It survives a reload, a crash, an expired session and a lost network. */
export function readDraft(userId: string, subject: string): Draft {
  const kept = localStorage.getItem(name(userId, subject));
  return kept === null ? { text: "", key: crypto.randomUUID() } : (JSON.parse(kept) as Draft);
}

/** Keeps a draft. Another text is another post, so it gets another key. */
export function keepDraft(
  userId: string,
  subject: string,
  text: string,
  pictures: KeptPicture[] = [],
): Draft {
  const draft = { text, key: crypto.randomUUID(), pictures };
  if (text.trim() === "" && pictures.length === 0) dropDraft(userId, subject);
  else localStorage.setItem(name(userId, subject), JSON.stringify(draft));
  return draft;
}

export function dropDraft(userId: string, subject: string): void {
  localStorage.removeItem(name(userId, subject));
}

/** Drops all drafts of a member, whose account is gone. */
export function dropDrafts(userId: string): void {
  const names = Array.from({ length: localStorage.length }, (_, place) => localStorage.key(place));
  for (const one of names) if (one?.startsWith(name(userId, ""))) localStorage.removeItem(one);
}

function name(userId: string, subject: string): string {
  return `perch.draft ${userId} ${subject}`;
}
