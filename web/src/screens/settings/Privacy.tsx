import { useId } from "react";
import { useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";

const AUDIENCE = graphql(`query MessagesFrom { viewer { id messagesFrom } }`);

const UPDATE = graphql(`
  mutation UpdateAudience($from: MessageAudience!) {
    updateProfile(input: { messagesFrom: $from }) {
      viewer { id messagesFrom }
      userErrors { code message field }
    }
  }
`);

const AUDIENCES = ["EVERYONE", "FOLLOWED", "NOBODY"] as const;

/** Who may write to the member, and whom they have put aside. */
export function Privacy() {
  const t = useTranslations("privacy");
  const saved = useTranslations("settings")("saved");
  const id = useId();
  const [{ data }] = useQuery({ query: AUDIENCE });
  const [result, update] = useMutation(UPDATE);
  const refused = result.data?.updateProfile?.userErrors;
  return (
    <section className={controls.panel} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t("title")}</h2>
      <div className={controls.field}>
        <label htmlFor={id}>{t("messagesFrom")}</label>
        <select
          id={id}
          value={data?.viewer?.messagesFrom ?? "EVERYONE"}
          onChange={(event) => void update({ from: event.target.value as (typeof AUDIENCES)[number] })}
        >
          {AUDIENCES.map((one) => (
            <option key={one} value={one}>
              {t(one)}
            </option>
          ))}
        </select>
        <span role="status">{refused?.length === 0 && saved}</span>
        <Problem error={result.error ?? refused?.[0]} />
      </div>
      <div className={controls.row}>
        <Link className={controls.button} href="/settings/blocked">
          {t("blocked")}
        </Link>
        <Link className={controls.button} href="/settings/muted">
          {t("muted")}
        </Link>
        <Link className={controls.button} href="/settings/account">
          {t("account")}
        </Link>
      </div>
    </section>
  );
}
