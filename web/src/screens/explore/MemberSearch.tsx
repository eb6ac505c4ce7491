import { type ComponentType, useState } from "react";
import { useTranslations } from "use-intl";
import styles from "./explore.module.css";

export interface Begun {
  typed: string;
  isFocused: boolean;
}

/** Finds members by the beginning of their name or login. What offers them is loaded when the field is first used. */
export function MemberSearch() {
  const t = useTranslations("explore");
  const [Open, setOpen] = useState<ComponentType<Begun> | null>(null);
  const [typed, setTyped] = useState("");
  const [isFocused, setFocused] = useState(false);

  async function load() {
    setFocused(true);
    const { default: loaded } = await import("./MemberSearchOpen");
    setOpen(() => loaded);
  }

  return (
    <search className={styles.search}>
      {Open ? (
        <Open typed={typed} isFocused={isFocused} />
      ) : (
        <input
          className={styles.entry}
          aria-label={t("search")}
          placeholder={t("search")}
          type="search"
          role="combobox"
          aria-expanded="false"
          autoCapitalize="none"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onFocus={() => load().catch(() => {})} // without a network, the next time
          onBlur={() => setFocused(false)}
        />
      )}
    </search>
  );
}
