import { useLayoutEffect, useState } from "react";
import { useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useOnLive } from "../../data/graphql/live";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { More } from "../../parts/page/PagedList";
import { Pictures } from "../../parts/pictures/Pictures";
import { PostText } from "../../parts/post/PostText";
import { Avatar } from "../../parts/ui/Avatar";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import { Time } from "../../parts/ui/Time";
import { messageFragment, type Note } from "./fragments";
import styles from "./messages.module.css";

const MESSAGES = graphql(
  `
  query TalkMessages($id: ID!, $after: String) {
    node(id: $id) {
      __typename
      id
      ... on Conversation {
        messages(first: 40, after: $after) { nodes { ...Note } pageInfo { hasNextPage endCursor } }
      }
    }
  }
`,
  [messageFragment],
);

const DELETE = graphql(`
  mutation DeleteMessage($id: ID!) {
    deleteMessage(input: { messageId: $id }) {
      deletedMessageId
      conversation { id lastMessage { id text } }
      userErrors { code message field }
    }
  }
`);

/** Messages, oldest first. Older pages are above. */
export function Messages({ id, after = null }: { id: string; after?: string | null }) {
  const t = useTranslations("messages");
  const [{ data }, again] = useQuery({
    query: MESSAGES,
    variables: { id, after },
    requestPolicy: "cache-and-network",
  });
  useOnLive(() => again({ requestPolicy: "network-only" }), true);
  const found = data?.node?.__typename === "Conversation" ? data.node.messages : undefined;
  const newest = after === null ? found?.nodes[0]?.id : undefined;
  useLayoutEffect(() => {
    if (newest) scrollTo(0, document.documentElement.scrollHeight);
  }, [newest]);
  return (
    <>
      {found?.pageInfo.hasNextPage && (
        <More label={t("older")}>
          <Messages id={id} after={found.pageInfo.endCursor} />
        </More>
      )}
      <ol className={styles.messages} aria-live={after === null ? "polite" : undefined}>
        {found?.nodes.toReversed().map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
    </>
  );
}

function Message({ message }: { message: Note }) {
  const t = useTranslations("messages");
  const [isAsking, setAsking] = useState(false);
  const [, erase] = useMutation(DELETE);
  const { id, sender, text, images, createdAt } = message;
  const userId = useSession()?.userId;
  const isOwn = sender !== null && sender.id === userId;
  return (
    <li className={styles.message} data-own={isOwn}>
      {!isOwn && <Avatar {...(sender ?? { id, name: "·" })} />}
      <div className={styles.bubble}>
        <p className={styles.by}>
          <span className={isOwn ? "unseen" : undefined}>
            {isOwn ? t("you") : (sender?.name ?? t("gone"))}
          </span>{" "}
          <Time at={createdAt} />
        </p>
        {text && (
          <p className={styles.text} dir="auto">
            <PostText text={text} mentions={[]} />
          </p>
        )}
        <Pictures pictures={images} />
      </div>
      {isOwn && (
        <button
          type="button"
          className={controls.icon}
          aria-label={t("delete")}
          onClick={() => setAsking(true)}
        >
          <Icon name="trash" />
        </button>
      )}
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
    </li>
  );
}
