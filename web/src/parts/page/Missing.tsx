import { useTranslations } from "use-intl";
import controls from "../ui/controls.module.css";
import { Title } from "./Title";

/** What is not there, or not for this viewer: both look the same. */
export function Missing() {
  const t = useTranslations("app");
  return (
    <>
      <Title text={t("missing")} />
      <p className={controls.notice}>{t("missingHint")}</p>
    </>
  );
}
