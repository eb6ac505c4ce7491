import { type FragmentOf, graphql } from "../../data/graphql/tada";
import { pictureFragment } from "../../parts/pictures/fragments";
import { authorFragment } from "../../parts/post/fragments";

export const messageFragment = graphql(
  `fragment Note on Message { id text createdAt sender { ...Author } images { ...Picture } }`,
  [authorFragment, pictureFragment],
);

export const talkFragment = graphql(
  `
  fragment TalkHead on Conversation {
    id
    unreadCount
    participants { ...Author }
    lastMessage { ...Note }
  }
`,
  [authorFragment, messageFragment],
);

export type Note = FragmentOf<typeof messageFragment>;
export type TalkHead = FragmentOf<typeof talkFragment>;
