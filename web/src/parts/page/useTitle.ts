import { useEffect } from "react";
import { useTranslations } from "use-intl";

/** Names the page. */
export function useTitle(text: string): void {
  const t = useTranslations("app");
  useEffect(() => {
    document.title = text === "" ? t("name") : `${text} · ${t("name")}`;
  }, [text, t]);
}
