import { useTranslations } from "use-intl";
import { Link } from "wouter";
import type { GroupHead } from "../../parts/groups/fragments";
import { Avatar } from "../../parts/ui/Avatar";
import styles from "./groups.module.css";
import { KindBadge } from "./KindBadge";

/** A group in a list. */
export function GroupRow({ group }: { group: GroupHead }) {
  const t = useTranslations("groups");
  return (
    <li>
      <Link className={styles.row} href={`/groups/${group.id}`}>
        <Avatar {...group} />
        <span className={styles.head}>
          <b dir="auto">{group.name}</b>
          <span className={styles.facts}>
            <KindBadge group={group} />
            {group.memberCount > 0 && <span>{t("members", { count: group.memberCount })}</span>}
          </span>
          <span className={styles.description} dir="auto">
            {group.description}
          </span>
        </span>
      </Link>
    </li>
  );
}
