import { useTranslations } from "use-intl";
import type { GroupHead } from "../../parts/groups/fragments";
import { Icon } from "../../parts/ui/icons";
import styles from "./groups.module.css";

/** Says who may join and post, and whether the group is hidden. */
export function KindBadge({ group: { isHidden, kind } }: { group: GroupHead }) {
  const t = useTranslations("groups");
  return (
    <>
      <span className={styles.badge}>
        {kind === "PRIVATE" && <Icon name="lock" width="14" height="14" />} {t(kind)}
      </span>
      {isHidden && <span className={styles.badge}>{t("hidden")}</span>}
    </>
  );
}
