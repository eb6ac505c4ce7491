import { useClient, useMutation, useQuery } from "urql";
import { useFormatter, useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { forgetSession } from "../../data/session/session";
import controls from "../../parts/ui/controls.module.css";
import styles from "./settings.module.css";

const SESSIONS = graphql(`
  query Sessions { viewer { id sessions { id userAgent address lastUsedAt isCurrent } } }
`);

const END = graphql(`
  mutation EndSession($id: ID!) {
    endSession(input: { sessionId: $id }) {
      viewer { id sessions { id userAgent address lastUsedAt isCurrent } }
      userErrors { code message field }
    }
  }
`);

const LOG_OUT = graphql(`mutation LogOut { logOut { userErrors { code message field } } }`);

/** Where the member is logged in. */
export function Sessions() {
  const t = useTranslations("settings");
  const format = useFormatter();
  const client = useClient();
  const [{ data }] = useQuery({ query: SESSIONS, requestPolicy: "cache-and-network" });
  const [, end] = useMutation(END);

  async function logOut() {
    await client.mutation(LOG_OUT, {}); // without a network the session ends on this device alone
    forgetSession();
  }

  return (
    <section className={controls.panel}>
      <h2>{t("sessions")}</h2>
      <ul className={styles.sessions}>
        {data?.viewer?.sessions.map(({ id, userAgent, address, lastUsedAt, isCurrent }) => (
          <li key={id}>
            <div>
              <b>{isCurrent ? t("current") : address}</b>
              <p className={controls.hint}>{userAgent}</p>
              <p className={controls.hint}>
                {t("lastUsed", {
                  time: format.dateTime(new Date(lastUsedAt), { dateStyle: "medium", timeStyle: "short" }),
                })}
              </p>
            </div>
            {!isCurrent && (
              <button type="button" className={controls.button} onClick={() => void end({ id })}>
                {t("end")}
              </button>
            )}
          </li>
        ))}
      </ul>
      <div>
        <button type="button" className={controls.danger} onClick={() => void logOut()}>
          {t("logOut")}
        </button>
      </div>
    </section>
  );
}
