import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { PagedList } from "../../parts/page/PagedList";
import { Title } from "../../parts/page/Title";
import { Avatar } from "../../parts/ui/Avatar";
import controls from "../../parts/ui/controls.module.css";
import { Time } from "../../parts/ui/Time";
import { type TalkHead, talkFragment } from "./fragments";
import styles from "./messages.module.css";
import { useOthers } from "./useOthers";

const INBOX = graphql(
  `
  query Inbox($after: String) {
    viewer {
      id
      conversations(first: 30, after: $after) {
        nodes { ...TalkHead } pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [talkFragment],
);

/** The member's conversations. They change live. */
export default function Inbox() {
  const t = useTranslations("messages");
  return (
    <>
      <Title text={t("title")}>
        <Link className={controls.button} href="/messages/new">
          {t("begin")}
        </Link>
      </Title>
      <PagedList document={INBOX} rows={(data) => data.viewer?.conversations} empty={t("empty")} isLive>
        {(talk) => <Row key={talk.id} talk={talk} />}
      </PagedList>
    </>
  );
}

function Row({ talk }: { talk: TalkHead }) {
  const t = useTranslations("messages");
  const [others, names] = useOthers(talk.participants);
  const userId = useSession()?.userId;
  const { lastMessage, unreadCount } = talk;
  const by = lastMessage?.sender?.id === userId ? `${t("you")}: ` : "";
  return (
    <li>
      <Link className={styles.row} href={`/messages/${talk.id}`} data-unread={unreadCount > 0}>
        <Avatar {...(others[0] ?? { id: talk.id, name: "·" })} />
        <span className={styles.head}>
          <b dir="auto">{names}</b>
          {unreadCount > 0 && <span className="unseen">{t("unread", { count: unreadCount })}</span>}
          <span className={styles.last} dir="auto">
            {lastMessage ? by + (lastMessage.text || t("picture")) : t("none")}
          </span>
        </span>
        {lastMessage && (
          <span className={styles.when}>
            <Time at={lastMessage.createdAt} />
          </span>
        )}
      </Link>
    </li>
  );
}
