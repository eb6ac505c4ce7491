import type { CombinedError } from "@urql/core";
import { useClient } from "urql";
import type { UserError } from "../../data/graphql/errors";
import { graphql } from "../../data/graphql/tada";
import type { Draft } from "../../parts/drafts/drafts";
import { imageInputs } from "../../parts/pictures/useUploads";
import { messageFragment, talkFragment } from "./fragments";

const SEND = graphql(
  `
  mutation SendMessage($input: SendMessageInput!) {
    sendMessage(input: $input) {
      message { ...Note }
      conversation { id lastMessage { ...Note } }
      userErrors { code message field }
    }
  }
`,
  [messageFragment],
);

const START = graphql(
  `
  mutation StartConversation($input: StartConversationInput!) {
    startConversation(input: $input) {
      conversation { ...TalkHead }
      userErrors { code message field }
    }
  }
`,
  [talkFragment],
);

type Problem = UserError | CombinedError;

/** Returns functions that send a draft: to a conversation, or as the first message to members. */
export function useSendMessage() {
  const client = useClient();
  return {
    send: async (conversationId: string, { text, key, pictures }: Draft): Promise<Problem | null> => {
      const input = { conversationId, text, idempotencyKey: key, images: imageInputs(pictures) };
      const { data, error } = await client.mutation(SEND, { input });
      return error ?? data?.sendMessage?.userErrors[0] ?? null;
    },
    start: async (userIds: string[], { text, key }: Draft): Promise<Problem | { conversationId: string }> => {
      const input = { userIds, text, idempotencyKey: key };
      const { data, error } = await client.mutation(START, { input });
      const payload = data?.startConversation;
      if (payload?.conversation) return { conversationId: payload.conversation.id };
      return error ?? (payload?.userErrors[0] as UserError);
    },
  };
}
