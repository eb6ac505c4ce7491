import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { Field } from "../../parts/ui/Field";

/** The member's password, which confirms a change of the account. */
export function PasswordField({ name = "password", refused }: { name?: string; refused: UserError[] }) {
  const t = useTranslations("account");
  return (
    <Field
      name={name}
      type="password"
      label={t("yourPassword")}
      autoComplete="current-password"
      required
      refused={refused}
    />
  );
}
