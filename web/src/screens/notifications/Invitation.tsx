import { useState } from "react";
import { useTranslations } from "use-intl";
import { Link, useLocation } from "wouter";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";
import styles from "./notifications.module.css";

interface InvitationProps {
  group: { id: string; name: string; viewerRole: string | null };
}

/** Accepts or declines an invitation to a group. */
export function Invitation({ group: { id, name, viewerRole } }: InvitationProps) {
  const t = useTranslations("groups");
  const [act, problem] = useGroupAction();
  const [, go] = useLocation();
  const [isDeclined, setDeclined] = useState(false);

  async function join() {
    if (await act("join", id)) go(`/groups/${id}`);
  }

  return (
    <>
      <Link href={`/groups/${id}`}>{t("see", { name })}</Link>
      <Problem error={problem} />
      <p role="status">{isDeclined && t("declined")}</p>
      {viewerRole === null && !isDeclined && (
        <div className={styles.actions}>
          <button
            type="button"
            className={controls.primary}
            aria-label={`${t("join")}: ${name}`}
            onClick={() => void join()}
          >
            {t("join")}
          </button>
          <button
            type="button"
            className={controls.button}
            aria-label={`${t("decline")}: ${name}`}
            onClick={() => void act("leave", id).then(setDeclined)}
          >
            {t("decline")}
          </button>
        </div>
      )}
    </>
  );
}
