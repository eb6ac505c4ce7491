import { Fragment } from "react";
import { Link } from "wouter";

// What may be a link: an address, a #hashtag or an @mention. The server says which mentions are members.
const PARTS = /(https?:\/\/[^\s<>"]+|[#＃][\p{L}\p{M}\p{N}_]+|[@＠][A-Za-z0-9_]{1,20})/u;
const PUNCTUATION = /[.,;:!?)\]}'"]+$/; // at the end of an address it belongs to the sentence

/** A post's text with its links. */
export function PostText({ text, mentions }: { text: string; mentions: readonly { login: string }[] }) {
  const members = new Set(mentions.map(({ login }) => login.toLowerCase()));
  return text.split(PARTS).map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their places
    <Fragment key={place}>{place % 2 === 1 ? linked(part, members) : part}</Fragment>
  ));
}

function linked(part: string, members: Set<string>) {
  if (part.startsWith("http")) {
    const rest = PUNCTUATION.exec(part)?.[0] ?? "";
    const address = part.slice(0, part.length - rest.length);
    return (
      <>
        <a href={address} rel="noreferrer nofollow ugc" target="_blank">
          {address.replace(/^https?:\/\//, "")}
        </a>
        {rest}
      </>
    );
  }
  const name = part.slice(1);
  if (/^[#＃]/.test(part)) {
    return /^\d+$/.test(name) ? (
      part
    ) : (
      <Link href={`/tags/${encodeURIComponent(name.toLowerCase())}`}>{part}</Link>
    );
  }
  return members.has(name.toLowerCase()) ? <Link href={`/@${name}`}>{part}</Link> : part;
}
