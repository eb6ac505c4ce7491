import { useState } from "react";
import { useClient } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import type { Outcome } from "../../data/graphql/useOpening";
import { forgetSession, useSession } from "../../data/session/session";
import { dropDrafts } from "../../parts/drafts/drafts";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { AccountForm } from "./AccountForm";
import { PasswordField } from "./PasswordField";

const DELETE = graphql(`
  mutation DeleteAccount($password: String!) {
    deleteAccount(input: { password: $password }) { deletedUserId userErrors { code message field } }
  }
`);

/** The end of the account, after the password and a question. */
export function Deletion() {
  const t = useTranslations("account");
  const client = useClient();
  const userId = useSession()?.userId ?? "";
  const [answer, setAnswer] = useState<((isSure: boolean) => void) | null>(null);

  async function erase(password: string): Promise<Outcome> {
    const isSure = await new Promise<boolean>((resolve) => setAnswer(() => resolve));
    setAnswer(null);
    if (!isSure) return { refused: [] };
    const { data, error } = await client.mutation(DELETE, { password });
    const payload = data?.deleteAccount;
    if (payload?.deletedUserId) {
      dropDrafts(userId);
      forgetSession();
    }
    return { refused: payload?.userErrors ?? [], failed: error };
  }

  return (
    <section className={controls.panel} aria-labelledby="deletion">
      <h2 id="deletion">{t("deletion")}</h2>
      <p className={controls.hint}>{t("deletionHint")}</p>
      <AccountForm button={t("delete")} isDanger send={({ password = "" }) => erase(password)}>
        {(refused) => <PasswordField refused={refused} />}
      </AccountForm>
      {answer && (
        <Confirm
          title={t("deleteTitle")}
          hint={t("deletionHint")}
          action={t("delete")}
          onClose={() => answer(false)}
          onConfirm={() => answer(true)}
        />
      )}
    </section>
  );
}
