import type { CombinedError } from "@urql/core";
import type { UserError } from "../../data/graphql/errors";
import { useErrorText } from "../i18n/useErrorText";
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
