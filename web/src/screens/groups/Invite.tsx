import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import { type GroupHead, moderates } from "../../parts/groups/fragments";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { Problem } from "../../parts/page/Problem";
import { MemberPicker } from "../../parts/picker/MemberPicker";
import type { Author } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";
import styles from "./groups.module.css";

/** Invites members to a group. Its moderators may take it back while the screen is open: the API lists no invitations. */
export function Invite({ group }: { group: GroupHead }) {
  const t = useTranslations("groups");
  const [chosen, setChosen] = useState<Author[]>([]);
  const [invited, setInvited] = useState<Author[]>([]);
  const [act, problem] = useGroupAction();
  const idsOf = (members: Author[]) => ({ userIds: members.map(({ id }) => id) });

  async function invite(event: FormEvent) {
    event.preventDefault();
    if (chosen.length === 0) return;
    if (await act("invite", group.id, idsOf(chosen))) {
      setInvited(chosen);
      setChosen([]);
    }
  }

  async function takeBack() {
    if (await act("remove", group.id, idsOf(invited))) setInvited([]);
  }

  return (
    <form className={styles.invite} onSubmit={(event) => void invite(event)}>
      <MemberPicker label={t("inviteLabel")} chosen={chosen} onChange={setChosen} />
      <Problem error={problem} />
      <div className={controls.row}>
        <span role="status">{invited.length > 0 && t("invited", { count: invited.length })}</span>
        {invited.length > 0 && moderates(group) && (
          <button type="button" className={controls.button} onClick={() => void takeBack()}>
            {t("takeBack")}
          </button>
        )}
        <button type="submit" className={controls.primary} disabled={chosen.length === 0}>
          {t("invite")}
        </button>
      </div>
    </form>
  );
}
