import { useState } from "react";
import { useClient } from "urql";
import { useFormatter, useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import controls from "../../parts/ui/controls.module.css";
import { AccountForm } from "./AccountForm";
import { PasswordField } from "./PasswordField";

const EXPORT = graphql(`
  mutation Export($password: String!) {
    exportData(input: { password: $password }) { url expiresAt userErrors { code message field } }
  }
`);

/** Everything that Perch keeps of the member, as a file. Its link works once. */
export function Export() {
  const t = useTranslations("account");
  const format = useFormatter();
  const client = useClient();
  const [link, setLink] = useState<{ path: string; until: string } | null>(null);
  return (
    <section className={controls.panel} aria-labelledby="export">
      <h2 id="export">{t("export")}</h2>
      <p className={controls.hint}>{t("exportHint")}</p>
      {link ? (
        <div className={controls.row}>
          <span role="status">
            {t("exportReady", { time: format.dateTime(new Date(link.until), { timeStyle: "short" }) })}
          </span>
          <a className={controls.primary} href={link.path} download onClick={() => setLink(null)}>
            {t("download")}
          </a>
        </div>
      ) : (
        <AccountForm
          button={t("prepare")}
          send={async ({ password = "" }) => {
            const { data, error } = await client.mutation(EXPORT, { password });
            const payload = data?.exportData;
            if (payload?.url && payload.expiresAt) {
              setLink({ path: new URL(payload.url, location.href).pathname, until: payload.expiresAt });
            }
            return { refused: payload?.userErrors ?? [], failed: error };
          }}
        >
          {(refused) => <PasswordField refused={refused} />}
        </AccountForm>
      )}
    </section>
  );
}
