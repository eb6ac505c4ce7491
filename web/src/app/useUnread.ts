import { useQuery } from "urql";
import { useOnLive } from "../data/graphql/live";
import { graphql } from "../data/graphql/tada";
import { useLiveEvents } from "../data/graphql/useLiveEvents";

const UNREAD = graphql(`query Unread { viewer { id role unreadNotificationCount unreadMessageCount } }`);

const NOTIFICATIONS = graphql(`
  subscription NotificationsLive($after: String) {
    notifications(after: $after) {
      __typename
      ... on StreamEvent { cursor at }
      ... on NotificationReceived { unreadCount }
      ... on NotificationWithdrawn { unreadCount }
    }
  }
`);

const MESSAGES = graphql(`
  subscription MessagesLive($after: String) {
    messages(after: $after) {
      __typename
      ... on StreamEvent { cursor at }
      ... on MessageReceived { message { id conversation { id unreadCount } } }
      ... on MessageDeleted { messageId conversationId }
      ... on ConversationRead { conversation { id unreadCount } }
    }
  }
`);

/** Counts what the member has not read, and says whether they moderate. The numbers change live, and so do the lists behind them. */
export function useUnread(): { notifications: number; messages: number; isModerator: boolean } {
  const [{ data }, again] = useQuery({ query: UNREAD });
  useLiveEvents(NOTIFICATIONS, {}, () => {}); // the cache takes what changes
  useLiveEvents(MESSAGES, {}, () => {});
  useOnLive(() => again({ requestPolicy: "network-only" }));
  const viewer = data?.viewer;
  return {
    notifications: viewer?.unreadNotificationCount ?? 0,
    messages: viewer?.unreadMessageCount ?? 0,
    isModerator: viewer !== undefined && viewer !== null && viewer.role !== "MEMBER",
  };
}
