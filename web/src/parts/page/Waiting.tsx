import { useTranslations } from "use-intl";
import controls from "../ui/controls.module.css";

export function Waiting() {
  const t = useTranslations("app");
  return (
    <p className={controls.notice} role="status">
      {t("loading")}
    </p>
  );
}
