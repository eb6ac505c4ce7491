import { useId, useState } from "react";
import { useTranslations } from "use-intl";
import { chooseLanguage, LANGUAGES, type Language, useLanguage } from "../../parts/i18n/language";
import controls from "../../parts/ui/controls.module.css";
import { chooseTheme, type Theme, theme } from "../../parts/ui/theme";

const THEMES: Theme[] = ["auto", "light", "dark"];

/** The language and the colours of this device. */
export function Appearance() {
  const t = useTranslations("settings");
  const id = useId();
  const language = useLanguage();
  const [colours, setColours] = useState(theme);
  return (
    <section className={controls.panel}>
      <div className={controls.field}>
        <label htmlFor={`${id}-language`}>{t("language")}</label>
        <select
          id={`${id}-language`}
          value={language}
          onChange={(event) => void chooseLanguage(event.target.value as Language)}
        >
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div className={controls.field}>
        <label htmlFor={`${id}-colours`}>{t("appearance")}</label>
        <select
          id={`${id}-colours`}
          value={colours}
          onChange={(event) => {
            setColours(event.target.value as Theme);
            chooseTheme(event.target.value as Theme);
          }}
        >
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {t(one)}
            </option>
          ))}
        </select>
      </div>
    </section>
  );
}
