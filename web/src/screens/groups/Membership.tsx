import { useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useSession } from "../../data/session/session";
import type { GroupHead } from "../../parts/groups/fragments";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { Problem } from "../../parts/page/Problem";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";

/** Joins a group, asks to join it, takes that back, or leaves. */
export function Membership({ group }: { group: GroupHead }) {
  const t = useTranslations("groups");
  const isMember = useSession() !== null;
  const [act, problem] = useGroupAction();
  const [isAsking, setAsking] = useState(false);
  const { id, kind, name, viewerRole, viewerHasRequestedToJoin } = group;
  if (!isMember) {
    return (
      <Link className={controls.primary} href="/login">
        {t(kind === "PRIVATE" ? "ask" : "join")}
      </Link>
    );
  }
  return (
    <>
      {viewerRole ? (
        <button type="button" className={controls.button} onClick={() => setAsking(true)}>
          {t("leave")}
        </button>
      ) : (
        <button
          type="button"
          className={viewerHasRequestedToJoin ? controls.button : controls.primary}
          aria-pressed={kind === "PRIVATE" ? viewerHasRequestedToJoin : undefined}
          onClick={() => void act(viewerHasRequestedToJoin ? "leave" : "join", id)}
        >
          {t(viewerHasRequestedToJoin ? "asked" : kind === "PRIVATE" ? "ask" : "join")}
        </button>
      )}
      <Problem error={problem} />
      {isAsking && (
        <Confirm
          title={t("leaveTitle", { name })}
          hint={t(viewerRole === "OWNER" ? "leaveOwnerHint" : "leaveHint")}
          action={t("leave")}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void act("leave", id);
          }}
        />
      )}
    </>
  );
}
