import { useId, useState } from "react";
import { useMutation } from "urql";
import { useTranslations } from "use-intl";
import { type FragmentOf, graphql } from "../../data/graphql/tada";
import { useErrorText } from "../../parts/i18n/useErrorText";
import { authorFragment } from "../../parts/post/fragments";
import { AuthorLink } from "../../parts/post/PostCard";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Time } from "../../parts/ui/Time";
import styles from "./moderation.module.css";

export const reportFragment = graphql(
  `
  fragment OpenReport on Report {
    id
    state
    reason
    note
    reportCount
    createdAt
    reporter { ...Author }
    subject {
      __typename
      ... on Node { id }
      ... on Post { text author { ...Author } }
      ... on Comment { text author { ...Author } }
      ... on User { ...Author bio }
      ... on Group { name description }
    }
    messages { id text sender { ...Author } }
  }
`,
  [authorFragment],
);

const RESOLVE = graphql(`
  mutation Resolve($input: ResolveReportInput!) {
    resolveReport(input: $input) { report { id state } userErrors { code message field } }
  }
`);

type OpenReport = FragmentOf<typeof reportFragment>;
const ACTIONS = ["DISMISS", "DELETE_CONTENT", "SUSPEND_AUTHOR"] as const;

/** A report with all that a decision needs. */
export function Report({ report }: { report: OpenReport }) {
  const t = useTranslations("moderation");
  const reasons = useTranslations("report");
  const errorText = useErrorText();
  const noteId = useId();
  const [note, setNote] = useState("");
  const [asked, setAsked] = useState<(typeof ACTIONS)[number] | null>(null);
  const [{ data, error }, resolve] = useMutation(RESOLVE);
  const problem = error ?? data?.resolveReport?.userErrors[0];

  async function decide(action: (typeof ACTIONS)[number]) {
    setAsked(null);
    await resolve({ input: { reportId: report.id, action, note } });
  }

  return (
    <li className={styles.report}>
      <p>
        <b>{reasons(report.reason)}</b> · {t("count", { count: report.reportCount })} ·{" "}
        <Time at={report.createdAt} />
      </p>
      {report.reporter && <p className={controls.hint}>{t("by", { name: report.reporter.name })}</p>}
      {report.note && <p className={styles.quote}>{report.note}</p>}
      <Subject report={report} />
      <div className={controls.field}>
        <label htmlFor={noteId}>{t("note")}</label>
        <input id={noteId} value={note} onChange={(event) => setNote(event.target.value)} />
      </div>
      {problem && (
        <p className={controls.error} role="alert">
          {errorText(problem)}
        </p>
      )}
      <div className={controls.row}>
        {ACTIONS.filter((action) => action !== "DELETE_CONTENT" || report.subject?.__typename !== "User").map(
          (action) => (
            <button
              key={action}
              type="button"
              className={action === "DISMISS" ? controls.button : controls.danger}
              onClick={() => (action === "DISMISS" ? void decide(action) : setAsked(action))}
            >
              {t(action)}
            </button>
          ),
        )}
      </div>
      {asked && (
        <Confirm
          title={t(asked)}
          hint={t("hint")}
          action={t(asked)}
          onClose={() => setAsked(null)}
          onConfirm={() => void decide(asked)}
        />
      )}
    </li>
  );
}

function Subject({ report: { messages, subject } }: { report: OpenReport }) {
  const t = useTranslations("moderation");
  if (messages.length > 0) {
    return (
      <ol className={styles.subject}>
        {messages.map(({ id, sender, text }) => (
          <li key={id}>
            {sender && <AuthorLink author={sender} />}
            <p dir="auto">{text}</p>
          </li>
        ))}
      </ol>
    );
  }
  if (!subject || subject.__typename === "Message") return <p className={styles.subject}>{t("gone")}</p>;
  if (subject.__typename === "Group") {
    return (
      <div className={styles.subject}>
        <b>{subject.name}</b>
        <p dir="auto">{subject.description}</p>
      </div>
    );
  }
  const author = subject.__typename === "User" ? subject : subject.author;
  return (
    <div className={styles.subject}>
      <AuthorLink author={author} />
      <p dir="auto">{subject.__typename === "User" ? subject.bio : subject.text}</p>
    </div>
  );
}
