import { useState } from "react";
import styles from "./controls.module.css";

const HUES = 360;

interface AvatarProps {
  id: string;
  name: string;
  avatar?: { small: string; large?: string } | null;
  large?: boolean;
}

/** A member's picture; else their initial on a colour of their own, which is the same everywhere. The name beside it says the same. */
export function Avatar({ id, name, avatar, large }: AvatarProps) {
  const [failed, setFailed] = useState("");
  const source = (large && avatar?.large) || avatar?.small;
  const classes = `${styles.avatar} ${large ? styles.large : ""}`;
  const side = large ? 84 : 44; // pixels, as the styles say
  if (source && source !== failed) {
    return (
      <img
        className={classes}
        src={source}
        width={side}
        height={side}
        alt=""
        loading="lazy"
        decoding="async"
        onError={() => setFailed(source)}
      />
    );
  }
  let hash = 0;
  for (const letter of id) hash = (hash * 31 + letter.charCodeAt(0)) % HUES;
  return (
    <span aria-hidden="true" className={classes} style={{ background: `hsl(${hash} 42% 36%)` }}>
      {Array.from(name)[0]?.toUpperCase()}
    </span>
  );
}
