import type { CombinedError } from "@urql/core";
import { useTranslations } from "use-intl";
import { useErrorText } from "../i18n/useErrorText";
import controls from "../ui/controls.module.css";

interface FailedProps {
  /** Undefined without a network: the cache answers then, with nothing. */
  error: CombinedError | undefined;
  onRetry: () => void;
}

/** What is shown when a screen could not be read. */
export function Failed({ error, onRetry }: FailedProps) {
  const t = useTranslations("app");
  const errorText = useErrorText();
  return (
    <div className={controls.notice} role="alert">
      <p>{!error || error.networkError ? t("failed") : errorText(error)}</p>
      <button type="button" className={controls.button} onClick={() => onRetry()}>
        {t("retry")}
      </button>
    </div>
  );
}
