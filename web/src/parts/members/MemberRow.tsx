import type { ReactNode } from "react";
import type { Author } from "../post/fragments";
import { AuthorLink } from "../post/PostCard";
import { Avatar } from "../ui/Avatar";
import styles from "./members.module.css";

/** A member in a list, with what can be done there. */
export function MemberRow({ member, children }: { member: Author & { bio: string }; children?: ReactNode }) {
  return (
    <li className={styles.member}>
      <Avatar {...member} />
      <div>
        <AuthorLink author={member} />
        <small dir="auto">{member.bio}</small>
      </div>
      {children}
    </li>
  );
}
