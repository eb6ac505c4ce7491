import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { useOpening } from "../../data/graphql/useOpening";
import { useTitle } from "../../parts/page/useTitle";
import { Field } from "../../parts/ui/Field";
import { SessionForm } from "./SessionForm";

/** Makes an account and opens its first session. */
export default function SignUp() {
  const t = useTranslations("session");
  const { signUp } = useOpening();
  useTitle(t("signUp"));

  return (
    <SessionForm
      title={t("signUpTitle")}
      button={t("signUp")}
      send={({ login = "", name = "", email = "", password = "" }) =>
        signUp({ login, name, email, password })
      }
      below={<p>{t.rich("hasAccount", { link: (text) => <Link href="/login">{text}</Link> })}</p>}
    >
      {(refused) => (
        <>
          <Field name="name" label={t("name")} autoComplete="name" required refused={refused} />
          <Field
            name="login"
            label={t("login")}
            hint={t("loginHint")}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            refused={refused}
          />
          <Field
            name="email"
            type="email"
            label={t("email")}
            autoComplete="email"
            required
            refused={refused}
          />
          <Field
            name="password"
            type="password"
            label={t("password")}
            hint={t("passwordHint")}
            autoComplete="new-password"
            required
            refused={refused}
          />
        </>
      )}
    </SessionForm>
  );
}
