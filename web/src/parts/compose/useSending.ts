import type { CombinedError } from "@urql/core";
import { useClient } from "urql";
import type { UserError } from "../../data/graphql/errors";
import { graphql } from "../../data/graphql/tada";
import type { Draft } from "../drafts/drafts";
import { imageInputs } from "../pictures/useUploads";
import type { About } from "../post/composer";
import { postFragment } from "../post/fragments";

const POST = graphql(
  `
  mutation Post($input: PostInput!) {
    post(input: $input) {
      status { ...Card author { id postCount } inReplyTo { id replyCount } }
      userErrors { code message field }
    }
  }
`,
  [postFragment],
);

const QUOTE = graphql(
  `
  mutation Quote($input: RepostInput!) {
    repost(input: $input) {
      repost { ...Card author { id postCount } }
      original { id quoteCount }
      userErrors { code message field }
    }
  }
`,
  [postFragment],
);

/** Returns a function that sends a draft. It returns why that was refused or failed, or null when it was published. */
export function useSending(): (about: About, draft: Draft) => Promise<UserError | CombinedError | null> {
  const client = useClient();
  return async (about, { text, key, pictures }) => {
    if (about.kind === "quote") {
      const input = { postId: about.post.id, text, idempotencyKey: key };
      const { data, error } = await client.mutation(QUOTE, { input });
      return error ?? data?.repost?.userErrors[0] ?? null;
    }
    const groupId = about.kind === "post" ? (about.group?.id ?? null) : null;
    const inReplyToId = about.kind === "reply" ? about.post.id : null;
    const { data, error } = await client.mutation(POST, {
      input: { text, inReplyToId, groupId, idempotencyKey: key, images: imageInputs(pictures) },
    });
    return error ?? data?.post?.userErrors[0] ?? null;
  };
}
