import { useState } from "react";
import { useClient, useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";
import { Field } from "../../parts/ui/Field";
import { AccountForm } from "./AccountForm";
import { PasswordField } from "./PasswordField";

const EMAIL = graphql(`query Email { viewer { id email isEmailVerified } }`);

const CHANGE = graphql(`
  mutation ChangeEmail($input: ChangeEmailInput!) {
    changeEmail(input: $input) { viewer { id email isEmailVerified } userErrors { code message field } }
  }
`);

const RESEND = graphql(`
  mutation Resend { resendVerification { viewer { id isEmailVerified } userErrors { code message field } } }
`);

/** The e-mail address. A new one counts once the link that is sent to it was followed. */
export function Email() {
  const t = useTranslations("account");
  const session = useTranslations("session");
  const client = useClient();
  const [{ data }] = useQuery({ query: EMAIL, requestPolicy: "cache-and-network" });
  const [sentTo, setSentTo] = useState("");
  const viewer = data?.viewer;
  return (
    <section className={controls.panel} aria-labelledby="email">
      <h2 id="email">{session("email")}</h2>
      <p>{viewer?.email}</p>
      {viewer && !viewer.isEmailVerified && <Unverified />}
      <AccountForm
        button={t("changeEmail")}
        done={t("linkSent", { email: sentTo })}
        send={async ({ email = "", currentPassword = "" }) => {
          setSentTo(email);
          const { data, error } = await client.mutation(CHANGE, { input: { email, currentPassword } });
          return { refused: data?.changeEmail?.userErrors ?? [], failed: error };
        }}
      >
        {(refused) => (
          <>
            <Field
              name="email"
              type="email"
              label={t("newEmail")}
              autoComplete="email"
              required
              refused={refused}
            />
            <PasswordField name="currentPassword" refused={refused} />
          </>
        )}
      </AccountForm>
    </section>
  );
}

function Unverified() {
  const t = useTranslations("account");
  const [{ data, error, fetching }, resend] = useMutation(RESEND);
  const payload = data?.resendVerification;
  return (
    <>
      <p className={controls.hint}>{t("unverified")}</p>
      <Problem error={error ?? payload?.userErrors[0]} />
      <div className={controls.row}>
        <span role="status">{payload?.userErrors.length === 0 && t("resent")}</span>
        <button type="button" className={controls.button} disabled={fetching} onClick={() => void resend({})}>
          {t("resend")}
        </button>
      </div>
    </>
  );
}
