import { type ReactNode, useSyncExternalStore } from "react";
import { IntlProvider } from "use-intl";
import en from "./en.json";

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

const CHOICE = "perch.language";
const others = { de: () => import("./de.json") };

let language: Language = "en";
let messages: typeof en = en;
const listeners = new Set<() => void>();

/** Loads the texts of the language that was chosen here, or else of the browser's. */
export async function startLanguage(): Promise<void> {
  const wanted = [localStorage.getItem(CHOICE), ...navigator.languages.map((one) => one.slice(0, 2))];
  await use(wanted.find((one): one is Language => one !== null && one in LANGUAGES) ?? "en");
}

export async function chooseLanguage(chosen: Language): Promise<void> {
  localStorage.setItem(CHOICE, chosen);
  await use(chosen);
}

export function useLanguage(): Language {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => language,
  );
}

/** Gives its children the texts of the language in use. */
export function Texts({ children }: { children: ReactNode }) {
  const locale = useLanguage();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return (
    <IntlProvider locale={locale} messages={messages} timeZone={timeZone}>
      {children}
    </IntlProvider>
  );
}

async function use(chosen: Language): Promise<void> {
  messages = chosen === "en" ? en : (await others[chosen]()).default;
  language = chosen;
  document.documentElement.lang = chosen;
  for (const listener of listeners) listener();
}
