import { useTranslations } from "use-intl";
import { useOpening } from "../../data/graphql/useOpening";
import controls from "../../parts/ui/controls.module.css";
import { Field } from "../../parts/ui/Field";
import { AccountForm } from "./AccountForm";
import { PasswordField } from "./PasswordField";

/** A new password. Every other session of the member ends. */
export function Password() {
  const t = useTranslations("account");
  const session = useTranslations("session");
  const { changePassword } = useOpening();
  return (
    <section className={controls.panel} aria-labelledby="password">
      <h2 id="password">{session("password")}</h2>
      <p className={controls.hint}>{t("passwordHint")}</p>
      <AccountForm
        button={t("changePassword")}
        done={t("passwordChanged")}
        send={({ currentPassword = "", newPassword = "" }) =>
          changePassword({ currentPassword, newPassword })
        }
      >
        {(refused) => (
          <>
            <PasswordField name="currentPassword" refused={refused} />
            <Field
              name="newPassword"
              type="password"
              label={t("newPassword")}
              hint={session("passwordHint")}
              autoComplete="new-password"
              required
              refused={refused}
            />
          </>
        )}
      </AccountForm>
    </section>
  );
}
