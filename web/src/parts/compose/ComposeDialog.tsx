import type { CombinedError } from "@urql/core";
import { type FormEvent, useState } from "react";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { useSession } from "../../data/session/session";
import { dropDraft, keepDraft, readDraft } from "../drafts/drafts";
import { useErrorText } from "../i18n/useErrorText";
import { ChosenPictures, PictureButton } from "../pictures/PictureField";
import { takesFiles, useUploads } from "../pictures/useUploads";
import { type About, subjectOf, useComposer } from "../post/composer";
import { PostText } from "../post/PostText";
import controls from "../ui/controls.module.css";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/icons";
import styles from "./compose.module.css";
import { MentionArea } from "./MentionArea";
import { useSending } from "./useSending";

const MOST = 500; // characters, counted as the server does: code points in NFC
const NEAR = 60; // characters left from which on the count is read out

type Texts = ReturnType<typeof useTranslations<"compose">>;

function titleOf(about: About, t: Texts): string {
  if (about.kind !== "post") return t(about.kind, { name: about.post.author.name });
  return about.group ? t("inGroup", { group: about.group.name }) : t("title");
}

/** Writes a post, a reply or a quote. What was typed is kept until it is published or discarded. */
export default function ComposeDialog({ about }: { about: About }) {
  const t = useTranslations("compose");
  const app = useTranslations("app");
  const errorText = useErrorText();
  const [, compose] = useComposer();
  const userId = useSession()?.userId ?? "";
  const subject = subjectOf(about);
  const send = useSending();
  const [draft, setDraft] = useState(() => readDraft(userId, subject));
  const [error, setError] = useState<UserError | CombinedError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const takesPictures = about.kind !== "quote";
  const left = MOST - Array.from(draft.text.normalize("NFC").trim()).length;
  const uploads = useUploads("POST", draft.pictures ?? [], (pictures) =>
    setDraft(({ text }) => keepDraft(userId, subject, text, pictures)),
  );
  const isEmpty = left === MOST && uploads.chosen.length === 0;
  const mayNotSend = isBusy || isEmpty || left < 0 || !uploads.isReady;
  const close = () => compose(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (mayNotSend) return;
    setBusy(true);
    const problem = await send(about, draft);
    setBusy(false);
    setError(problem);
    if (problem) return;
    dropDraft(userId, subject);
    close();
  }

  return (
    <Dialog
      title={titleOf(about, t)}
      onClose={close}
      beside={
        <button type="button" className={controls.icon} aria-label={app("close")} onClick={close}>
          <Icon name="close" />
        </button>
      }
    >
      {about.kind !== "post" && (
        <blockquote className={styles.about} dir="auto">
          <PostText text={about.post.text} mentions={[]} />
        </blockquote>
      )}
      <form onSubmit={submit} className={styles.form} {...(takesPictures && takesFiles(uploads.add))}>
        <MentionArea
          label={t("label")}
          placeholder={t("placeholder")}
          value={draft.text}
          onChange={(text) => setDraft(keepDraft(userId, subject, text, draft.pictures))}
          onSubmit={submit}
        />
        <ChosenPictures uploads={uploads} />
        {error && (
          <p className={controls.error} role="alert">
            {errorText(error)}
          </p>
        )}
        <div className={controls.row}>
          {takesPictures && <PictureButton uploads={uploads} />}
          <span
            className={left < 0 ? controls.error : controls.hint}
            aria-live={left < NEAR ? "polite" : "off"}
          >
            {left < 0 ? t("over", { count: -left }) : t("left", { count: left })}
          </span>
          <button type="submit" className={controls.primary} disabled={mayNotSend}>
            {isBusy ? t("sending") : t("send")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
