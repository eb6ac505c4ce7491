import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Icon } from "../ui/icons";
import styles from "./title.module.css";
import { useTitle } from "./useTitle";

/** The heading of a screen, which names the page too. */
export function Title({ text, back, children }: { text: string; back?: boolean; children?: ReactNode }) {
  const t = useTranslations("app");
  useTitle(text);
  return (
    <header className={styles.title}>
      {back && (
        <button type="button" className={styles.back} aria-label={t("back")} onClick={() => history.back()}>
          <Icon name="back" />
        </button>
      )}
      <h1>{text}</h1>
      {children}
    </header>
  );
}
