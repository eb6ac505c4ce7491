import { useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useOpening } from "../../data/graphql/useOpening";
import { useTitle } from "../../parts/page/useTitle";
import { Field } from "../../parts/ui/Field";
import { SessionForm } from "./SessionForm";

/** Opens a session. It asks for a code only where the member has a second factor. */
export default function LogIn() {
  const t = useTranslations("session");
  const { logIn } = useOpening();
  const [needsCode, setNeedsCode] = useState(false);
  useTitle(t("logIn"));

  return (
    <SessionForm
      title={t("logInTitle")}
      button={t("logIn")}
      send={async ({ identifier = "", password = "", code }) => {
        const outcome = await logIn({ identifier, password, code: code || null });
        const asked = outcome.refused.some(({ field }) => field?.[0] === "code");
        if (asked && !needsCode) {
          setNeedsCode(true);
          return { refused: [] }; // the password is right: this is a question, not a refusal
        }
        return outcome;
      }}
      below={
        <>
          <p>
            <a href="/reset">{t("forgot")}</a>
          </p>
          <p>{t.rich("noAccount", { link: (text) => <Link href="/signup">{text}</Link> })}</p>
        </>
      }
    >
      {(refused) => (
        <>
          <Field
            name="identifier"
            label={t("identifier")}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            refused={refused}
          />
          <Field
            name="password"
            type="password"
            label={t("password")}
            autoComplete="current-password"
            required
            refused={refused}
          />
          {needsCode && (
            <Field
              name="code"
              label={t("code")}
              hint={t("codeHint")}
              autoComplete="one-time-code"
              required
              autoFocus
              refused={refused}
            />
          )}
        </>
      )}
    </SessionForm>
  );
}
