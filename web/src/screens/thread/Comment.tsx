import { lazy, Suspense, useState } from "react";
import { useMutation } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { Problem } from "../../parts/page/Problem";
import { AuthorLink } from "../../parts/post/PostCard";
import { PostText } from "../../parts/post/PostText";
import postStyles from "../../parts/post/post.module.css";
import { Avatar } from "../../parts/ui/Avatar";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import { Time } from "../../parts/ui/Time";
import styles from "./comments.module.css";
import type { Remark } from "./fragments";

const DELETE = graphql(`
  mutation DeleteComment($id: ID!) {
    deleteComment(input: { commentId: $id }) {
      deletedCommentId
      post { __typename id commentCount }
      userErrors { code message field }
    }
  }
`);

const ReportDialog = lazy(() => import("../../parts/reports/ReportDialog"));

interface CommentProps {
  comment: Remark;
  mayDelete: boolean;
  onAnswer: () => void;
}

/** A comment with what the viewer can do with it. */
export function Comment({ comment, mayDelete, onAnswer }: CommentProps) {
  const t = useTranslations("comments");
  const { id, author, createdAt, replyTo, text } = comment;
  const isMember = useSession() !== null;
  return (
    <li className={styles.comment}>
      <Avatar {...author} />
      <div className={styles.body}>
        <p className={postStyles.by}>
          <AuthorLink author={author} />
          <span className={postStyles.when}>
            <Time at={createdAt} />
          </span>
        </p>
        {replyTo && <p className={postStyles.context}>{t("inReplyTo", { name: replyTo.author.name })}</p>}
        <p className={postStyles.text} dir="auto">
          <PostText text={text} mentions={[]} />
        </p>
        {isMember && (
          <div className={styles.actions}>
            <button
              type="button"
              className={controls.icon}
              aria-label={t("answer", { name: author.name })}
              onClick={onAnswer}
            >
              <Icon name="reply" />
            </button>
            {mayDelete ? <Erase id={id} /> : <ReportButton id={id} />}
          </div>
        )}
      </div>
    </li>
  );
}

function Erase({ id }: { id: string }) {
  const t = useTranslations("comments");
  const [isAsking, setAsking] = useState(false);
  const [{ data, error }, erase] = useMutation(DELETE);
  return (
    <>
      <button
        type="button"
        className={controls.icon}
        aria-label={t("delete")}
        onClick={() => setAsking(true)}
      >
        <Icon name="trash" />
      </button>
      <Problem error={error ?? data?.deleteComment?.userErrors[0]} />
      {isAsking && (
        <Confirm
          title={t("deleteTitle")}
          hint={t("deleteHint")}
          action={t("delete")}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void erase({ id });
          }}
        />
      )}
    </>
  );
}

function ReportButton({ id }: { id: string }) {
  const t = useTranslations("comments");
  const [isReporting, setReporting] = useState(false);
  return (
    <>
      <button
        type="button"
        className={controls.icon}
        aria-label={t("report")}
        onClick={() => setReporting(true)}
      >
        <Icon name="flag" />
      </button>
      {isReporting && (
        <Suspense fallback={null}>
          <ReportDialog subjectId={id} onClose={() => setReporting(false)} />
        </Suspense>
      )}
    </>
  );
}
