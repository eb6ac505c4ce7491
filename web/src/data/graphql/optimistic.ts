import type { Cache, OptimisticMutationConfig } from "@urql/exchange-graphcache";

/** A flag that a mutation sets, with the count that goes with it. */
interface Change {
  flag: string;
  value: boolean;
  count?: string;
}

// What the screen shows at once, and what a lost connection does not lose: these are sent again when it is back.
const OF_POSTS: Record<string, Change> = {
  like: { flag: "viewerHasLiked", value: true, count: "likeCount" },
  unlike: { flag: "viewerHasLiked", value: false, count: "likeCount" },
  repost: { flag: "viewerHasReposted", value: true, count: "repostCount" },
  unrepost: { flag: "viewerHasReposted", value: false, count: "repostCount" },
  favourite: { flag: "viewerHasFavourited", value: true },
  unfavourite: { flag: "viewerHasFavourited", value: false },
};

const OF_MEMBERS: Record<string, Change> = {
  unfollow: { flag: "viewerIsFollowing", value: false },
  mute: { flag: "viewerHasMuted", value: true },
  unmute: { flag: "viewerHasMuted", value: false },
};

export const optimistic: OptimisticMutationConfig = {
  ...Object.fromEntries(
    Object.entries(OF_POSTS).map(([name, change]) => [
      name,
      (args: { input?: unknown }, cache: Cache) => {
        const { postId, text } = args.input as { postId: string; text?: string };
        if (text) return null; // a quote: a post of its own
        const post = changed(cache, postId, change);
        return name === "repost"
          ? { __typename: "RepostPayload", original: post, repost: null, userErrors: [] }
          : { __typename: "PostIdPayload", post, userErrors: [] };
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OF_MEMBERS).map(([name, change]) => [
      name,
      (args: { input?: unknown }, cache: Cache) => {
        const { userIds } = args.input as { userIds: string[] };
        const users = userIds.map((id) => changed(cache, id, change));
        return { __typename: "UsersPayload", users, viewer: null, userErrors: [] };
      },
    ]),
  ),
};

/** Returns an entity of the cache as it is after a change. Repeating a change alters no count. */
function changed(cache: Cache, id: string, { flag, value, count }: Change): { __typename: string } {
  const result: Record<string, unknown> = { __typename: cache.resolve(id, "__typename"), id, [flag]: value };
  if (count) {
    const step = cache.resolve(id, flag) === value ? 0 : value ? 1 : -1;
    result[count] = Number(cache.resolve(id, count)) + step;
  }
  return result as { __typename: string };
}
