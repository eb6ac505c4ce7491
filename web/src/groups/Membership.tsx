import { useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Problem } from "../app/Problem";
import { useSession } from "../session/session";
import { Confirm } from "../ui/Confirm";
import controls from "../ui/controls.module.css";
import type { GroupHead } from "./fragments";
import { useGroupAction } from "./useGroupAction";

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
