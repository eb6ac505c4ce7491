import { type FormEvent, useState } from "react";
import { useMutation } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { MentionArea } from "../../parts/compose/MentionArea";
import { dropDraft, keepDraft, readDraft } from "../../parts/drafts/drafts";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";
import { commentFragment, type Remark } from "./fragments";

const COMMENT = graphql(
  `
  mutation Comment($input: CommentInput!) {
    comment(input: $input) {
      comment { ...Remark }
      post { __typename id commentCount }
      userErrors { code message field }
    }
  }
`,
  [commentFragment],
);

interface CommentFormProps {
  postId: string;
  /** The comment that is answered, if any. */
  answered: Remark | null;
  onDone: () => void;
}

/** Writes a comment on a post, or an answer to one. What was typed is kept until it is published. */
export function CommentForm({ postId, answered, onDone }: CommentFormProps) {
  const t = useTranslations("comments");
  const cancel = useTranslations("post")("cancel");
  const userId = useSession()?.userId ?? "";
  const subject = `comment ${answered?.id ?? postId}`;
  const [draft, setDraft] = useState(() => readDraft(userId, subject));
  const [{ data, error, fetching }, comment] = useMutation(COMMENT);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (fetching || draft.text.trim() === "") return;
    const replyToId = answered?.id ?? null;
    const input = { postId, text: draft.text, replyToId, idempotencyKey: draft.key };
    const { data } = await comment({ input });
    if (!data?.comment?.comment) return;
    dropDraft(userId, subject);
    setDraft(readDraft(userId, subject));
    onDone();
  }

  return (
    <form className={controls.form} onSubmit={(event) => void submit(event)}>
      <MentionArea
        label={answered ? t("answer", { name: answered.author.name }) : t("label")}
        placeholder={answered ? t("answer", { name: answered.author.name }) : t("label")}
        rows={2}
        isFirst={answered !== null}
        value={draft.text}
        onChange={(text) => setDraft(keepDraft(userId, subject, text))}
        onSubmit={(event) => void submit(event)}
      />
      <Problem error={error ?? data?.comment?.userErrors[0]} />
      <div className={controls.row}>
        {answered && (
          <button type="button" className={controls.button} onClick={onDone}>
            {cancel}
          </button>
        )}
        <button type="submit" className={controls.primary} disabled={fetching || draft.text.trim() === ""}>
          {t("send")}
        </button>
      </div>
    </form>
  );
}
