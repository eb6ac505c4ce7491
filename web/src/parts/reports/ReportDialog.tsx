import type { CombinedError } from "@urql/core";
import { type FormEvent, useState } from "react";
import { useMutation } from "urql";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { dropDraft, keepDraft, readDraft } from "../drafts/drafts";
import { useErrorText } from "../i18n/useErrorText";
import controls from "../ui/controls.module.css";
import { Dialog } from "../ui/Dialog";

const REPORT = graphql(`
  mutation Report($input: ReportInput!) {
    report(input: $input) { report { id } userErrors { code message field } }
  }
`);

const REASONS = ["SPAM", "ABUSE", "ILLEGAL", "OTHER"] as const;

/** Reports a post, a member or a message to the moderators. */
export default function ReportDialog({ subjectId, onClose }: { subjectId: string; onClose: () => void }) {
  const t = useTranslations("report");
  const errorText = useErrorText();
  const userId = useSession()?.userId ?? "";
  const subject = `report ${subjectId}`;
  const [draft, setDraft] = useState(() => readDraft(userId, subject));
  const [reason, setReason] = useState<(typeof REASONS)[number]>("SPAM");
  const [error, setError] = useState<UserError | CombinedError | null>(null);
  const [isSent, setSent] = useState(false);
  const [{ fetching }, report] = useMutation(REPORT);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const { data, error } = await report({ input: { subjectId, reason, note: draft.text } });
    const problem = error ?? data?.report?.userErrors[0] ?? null;
    setError(problem);
    if (problem) return;
    dropDraft(userId, subject);
    setSent(true);
  }

  return (
    <Dialog title={t("title")} onClose={onClose}>
      {isSent ? (
        <p role="status">{t("sent")}</p>
      ) : (
        <form id="report" className={controls.form} onSubmit={submit}>
          <fieldset>
            <legend className="unseen">{t("reason")}</legend>
            {REASONS.map((one) => (
              <label key={one} className={controls.choice}>
                <input type="radio" name="reason" checked={reason === one} onChange={() => setReason(one)} />
                {t(one)}
              </label>
            ))}
          </fieldset>
          <div className={controls.field}>
            <label htmlFor="note">{t("note")}</label>
            <textarea
              id="note"
              rows={3}
              value={draft.text}
              onChange={(event) => setDraft(keepDraft(userId, subject, event.target.value))}
            />
          </div>
          {error && (
            <p className={controls.error} role="alert">
              {errorText(error)}
            </p>
          )}
        </form>
      )}
      <div className={controls.row}>
        <button type="button" className={controls.button} onClick={onClose}>
          {isSent ? t("close") : t("cancel")}
        </button>
        {!isSent && (
          <button type="submit" form="report" className={controls.primary} disabled={fetching}>
            {t("send")}
          </button>
        )}
      </div>
    </Dialog>
  );
}
