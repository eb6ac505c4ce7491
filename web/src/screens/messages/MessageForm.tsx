import type { CombinedError } from "@urql/core";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { useSession } from "../../data/session/session";
import { type Draft, dropDraft, keepDraft, readDraft } from "../../parts/drafts/drafts";
import { useErrorText } from "../../parts/i18n/useErrorText";
import { ChosenPictures, PictureButton } from "../../parts/pictures/PictureField";
import { takesFiles, useUploads } from "../../parts/pictures/useUploads";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import styles from "./messages.module.css";

interface MessageFormProps {
  subject: string;
  /** Whether pictures can be sent: the first message to a member has none. */
  takesPictures?: boolean;
  send: (draft: Draft) => Promise<UserError | CombinedError | null>;
}

/** Writes a message. What was typed is kept until it is sent. */
export function MessageForm({ subject, takesPictures, send }: MessageFormProps) {
  const t = useTranslations("messages");
  const errorText = useErrorText();
  const userId = useSession()?.userId ?? "";
  const [draft, setDraft] = useState(() => readDraft(userId, subject));
  const [error, setError] = useState<UserError | CombinedError | null>(null);
  const [isBusy, setBusy] = useState(false);

  const uploads = useUploads("MESSAGE", draft.pictures ?? [], (pictures) =>
    setDraft(({ text }) => keepDraft(userId, subject, text, pictures)),
  );
  const isEmpty = draft.text.trim() === "" && uploads.chosen.length === 0;

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isBusy || isEmpty || !uploads.isReady) return;
    setBusy(true);
    const problem = await send(draft);
    setBusy(false);
    setError(problem);
    if (problem) return;
    uploads.clear();
    dropDraft(userId, subject);
    setDraft(readDraft(userId, subject));
  }

  function press(event: KeyboardEvent) {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) void submit(event);
  }

  return (
    <form className={styles.form} onSubmit={submit} {...(takesPictures && takesFiles(uploads.add))}>
      {error && (
        <p className={controls.error} role="alert">
          {errorText(error)}
        </p>
      )}
      <ChosenPictures uploads={uploads} />
      <div className={styles.line}>
        {takesPictures && <PictureButton uploads={uploads} />}
        <textarea
          aria-label={t("label")}
          rows={1}
          dir="auto"
          value={draft.text}
          onChange={(event) => setDraft(keepDraft(userId, subject, event.target.value, draft.pictures))}
          onKeyDown={press}
        />
        <button
          type="submit"
          className={controls.icon}
          aria-label={t("send")}
          disabled={isBusy || !uploads.isReady}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
