import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";

const TIMELINES = ["homeTimeline", "publicTimeline"];

export const updates: UpdatesConfig = {
  Mutation: {
    follow: (_result, _args, cache) => forget(cache, "Query", ["homeTimeline"]),
    unfollow: (_result, _args, cache) => forget(cache, "Query", ["homeTimeline"]),
    block: (_result, _args, cache) => forget(cache, "Query", TIMELINES),
    unblock: (_result, _args, cache) => forget(cache, "Query", TIMELINES),
    mute: (_result, _args, cache) => forget(cache, "Query", TIMELINES),
    unmute: (_result, _args, cache) => forget(cache, "Query", TIMELINES),
    post: (_result, args, cache) => {
      const { inReplyToId } = args.input as { inReplyToId?: string };
      if (inReplyToId) forget(cache, inReplyToId, ["conversation", "replies"]);
    },
    createGroup: (_result, _args, cache) => forgetGroups(cache),
    updateGroup: (_result, args, cache) => forgetGroup(cache, args),
    deleteGroup: (result, _args, cache) => {
      const { deletedGroupId } = result.deleteGroup as { deletedGroupId: string | null };
      forgetGroups(cache);
      if (deletedGroupId) cache.invalidate(deletedGroupId);
    },
    joinGroup: (_result, args, cache) => forgetGroup(cache, args),
    leaveGroup: (_result, args, cache) => forgetGroup(cache, args),
    approveGroupMembers: (_result, args, cache) => forgetGroup(cache, args),
    rejectGroupMembers: (_result, args, cache) => forgetGroup(cache, args),
    inviteToGroup: (_result, args, cache) => forgetGroup(cache, args),
    removeGroupMembers: (_result, args, cache) => forgetGroup(cache, args),
    setGroupRole: (_result, args, cache) => forgetGroup(cache, args),
    startConversation: (_result, _args, cache) => forgetOfViewer(cache, ["conversations"]),
    sendMessage: (_result, args, cache) => {
      const { conversationId } = args.input as { conversationId: string };
      forget(cache, conversationId, ["messages"]);
      forgetOfViewer(cache, ["conversations"]);
    },
    deleteMessage: (result, _args, cache) => {
      const { conversation } = result.deleteMessage as { conversation: { id: string } | null };
      if (conversation) forget(cache, conversation.id, ["messages"]);
    },
    leaveConversation: (_result, _args, cache) =>
      forgetOfViewer(cache, ["conversations", "unreadMessageCount"]),
  },
  Subscription: {
    notifications: (_result, _args, cache) =>
      forgetOfViewer(cache, ["notifications", "unreadNotificationCount"]),
    messages: (result, _args, cache) => {
      const event = result.messages as {
        conversationId?: string;
        message?: { conversation: { id: string } };
      };
      const id = event.conversationId ?? event.message?.conversation.id;
      if (id) forget(cache, id, ["messages"]);
      if (event.conversationId) forget(cache, event.conversationId, ["lastMessage", "unreadCount"]);
      forgetOfViewer(cache, ["conversations", "unreadMessageCount"]);
    },
  },
};

function forgetGroups(cache: Cache): void {
  forget(cache, "Query", ["groups"]);
  forgetOfViewer(cache, ["groups"]);
}

/** Drops what a change of its members or its kind alters: who is in it, and who sees that. */
function forgetGroup(cache: Cache, args: { input?: unknown }): void {
  const { groupId } = args.input as { groupId: string };
  forget(cache, groupId, ["members", "joinRequests", "timeline"]);
  forgetGroups(cache);
}

function forgetOfViewer(cache: Cache, fields: string[]): void {
  const viewer = cache.resolve("Query", "viewer");
  if (typeof viewer === "string") forget(cache, viewer, fields);
}

/** Drops fields of an entity, with all arguments. Screens that show them fetch them again. */
function forget(cache: Cache, entity: string, fields: string[]): void {
  for (const { fieldName, arguments: given } of cache.inspectFields(entity)) {
    if (fields.includes(fieldName)) cache.invalidate(entity, fieldName, given);
  }
}
