import type { CombinedError } from "@urql/core";
import { useErrorText } from "../i18n/useErrorText";
import type { UserError } from "../session/open";
import controls from "../ui/controls.module.css";

/** Why something was refused or failed, if it was. */
export function Problem({ error }: { error: UserError | CombinedError | null | undefined }) {
  const errorText = useErrorText();
  if (!error) return null;
  return (
    <p className={controls.error} role="alert">
      {errorText(error)}
    </p>
  );
}
