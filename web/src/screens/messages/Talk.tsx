import { useEffect, useState } from "react";
import { useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useLocation, useParams } from "wouter";
import { useOnLive } from "../../data/graphql/live";
import { graphql } from "../../data/graphql/tada";
import { Failed } from "../../parts/page/Failed";
import { Missing } from "../../parts/page/Missing";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";
import { talkFragment } from "./fragments";
import { MessageForm } from "./MessageForm";
import { Messages } from "./Messages";
import type { Beginning } from "./NewTalk";
import { useOthers } from "./useOthers";
import { useSendMessage } from "./useSendMessage";

const TALK = graphql(
  `query Talk($id: ID!) { node(id: $id) { __typename id ... on Conversation { ...TalkHead } } }`,
  [talkFragment],
);

const MARK = graphql(`
  mutation MarkTalkRead($id: ID!, $upTo: ID!) {
    markConversationRead(input: { conversationId: $id, upToId: $upTo }) {
      conversation { id unreadCount }
      userErrors { code message field }
    }
  }
`);

const LEAVE = graphql(`
  mutation LeaveTalk($id: ID!) {
    leaveConversation(input: { conversationId: $id }) { userErrors { code message field } }
  }
`);

/** A conversation. What is on the screen is read, and what is written arrives live. */
export default function Talk() {
  const t = useTranslations("messages");
  const [, go] = useLocation();
  const { id } = useParams<{ id: string }>();
  const [{ data, error, fetching }, again] = useQuery({
    query: TALK,
    variables: { id },
    requestPolicy: "cache-and-network",
  });
  useOnLive(() => again({ requestPolicy: "network-only" }), true);
  const talk = data?.node?.__typename === "Conversation" ? data.node : undefined;
  const [others, names] = useOthers(talk?.participants ?? []);
  const [, mark] = useMutation(MARK);
  const { send } = useSendMessage();
  const newest = talk?.unreadCount ? talk.lastMessage?.id : undefined;
  useEffect(() => {
    if (newest) void mark({ id, upTo: newest });
  }, [id, newest, mark]);
  if (fetching && !talk) return <Waiting />;
  if (!data) return <Failed error={error} onRetry={again} />;
  if (!talk) return <Missing />;
  return (
    <>
      <Title text={names} back>
        {others.length > 0 && (
          <button
            type="button"
            className={controls.icon}
            aria-label={t("more")}
            onClick={() => go("/messages/new", { state: { from: id, members: others } satisfies Beginning })}
          >
            <Icon name="group" />
          </button>
        )}
        <Leave id={id} />
      </Title>
      <Messages id={id} />
      <MessageForm key={id} subject={`message ${id}`} takesPictures send={(draft) => send(id, draft)} />
    </>
  );
}

function Leave({ id }: { id: string }) {
  const t = useTranslations("messages");
  const [isAsking, setAsking] = useState(false);
  const [, leave] = useMutation(LEAVE);
  const [, go] = useLocation();
  return (
    <>
      <button type="button" className={controls.button} onClick={() => setAsking(true)}>
        {t("leave")}
      </button>
      {isAsking && (
        <Confirm
          title={t("leaveTitle")}
          hint={t("leaveHint")}
          action={t("leave")}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const { error } = await leave({ id });
            if (!error) go("/messages", { replace: true });
          }}
        />
      )}
    </>
  );
}
