// A client in TypeScript: every request and every answer has the types that graphql-codegen made from the schema.

import { type Client } from "graphql-ws";

import { graphql } from "./generated/gql";
import { type HomeEventsSubscription, type TypedDocumentString } from "./generated/graphql";

const LogIn = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { accessToken refreshToken userErrors { code message } }
  }
`);
const Refresh = graphql(`
  mutation Refresh($input: RefreshSessionInput!) {
    refreshSession(input: $input) { accessToken refreshToken userErrors { code message } }
  }
`);
const LogOut = graphql(`mutation LogOut { logOut { userErrors { code } } }`);
const Viewer = graphql(`query Viewer { viewer { id user { login } } }`);
const Page = graphql(`
  query Page($after: String) {
    publicTimeline(first: 5, after: $after) {
      edges { node { __typename ... on Node { id } ... on Status { text createdAt } ... on Repost { original { id } } } }
      pageInfo { endCursor }
    }
  }
`);
const Like = graphql(`
  mutation Like($input: PostIdInput!) {
    like(input: $input) { post { id likeCount viewerHasLiked } userErrors { code message } }
  }
`);
const HomeEvents = graphql(`
  subscription HomeEvents($after: String) {
    homeTimeline(after: $after) {
      __typename
      ... on StreamEvent { cursor }
      ... on TimelineEntryPut { edge { node { __typename ... on Status { id text author { login } } } } }
      ... on TimelineEntryRemoved { nodeId }
    }
  }
`);

type Event = NonNullable<HomeEventsSubscription["homeTimeline"]>;
type Send = (document: string, hash: string, variables: unknown) => Promise<unknown>;
interface Tokens {
  accessToken: string;
  refreshToken: string;
}

export class Program {
  constructor(private readonly send: Send) {}

  async logIn(identifier: string, password: string): Promise<Tokens> {
    const { logIn } = await this.run(LogIn, { input: { identifier, password } });
    return complete(logIn);
  }

  async refresh(refreshToken: string): Promise<Tokens> {
    const { refreshSession } = await this.run(Refresh, { input: { refreshToken } });
    return complete(refreshSession);
  }

  async logOut(): Promise<number> {
    return (await this.run(LogOut, {})).logOut?.userErrors.length ?? -1;
  }

  async login(): Promise<string | undefined> {
    return (await this.run(Viewer, {})).viewer?.user.login;
  }

  async page(after?: string | null): Promise<{ ids: string[]; texts: string[]; endCursor: string | null | undefined }> {
    const { publicTimeline } = await this.run(Page, { after: after ?? null });
    const nodes = (publicTimeline?.edges ?? []).map(({ node }) => node);
    const texts = nodes.map((node) => {
      // @ts-expect-error  only a status has a text, and any node may be in a timeline
      void node.text;
      return node.__typename === "Status" ? node.text : "";
    });
    return { ids: nodes.map(({ id }) => id), texts, endCursor: publicTimeline?.pageInfo.endCursor };
  }

  async like(postId: string): Promise<[number, boolean] | undefined> {
    const { like } = await this.run(Like, { input: { postId } });
    const post = like?.post;
    return post ? [post.likeCount, post.viewerHasLiked] : undefined;
  }

  async misspelt(): Promise<void> {
    // @ts-expect-error  the input's field is postId
    await this.run(Like, { input: { postID: "1" } });
  }

  private async run<Data, Variables>(
    document: TypedDocumentString<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const hash = String(document.__meta__?.["hash"]);
    return (await this.send(document.toString(), hash, variables)) as Data;
  }
}

/** Subscribe to the home; after a lost connection, the client resumes with the cursor of the last event. */
export function listen(client: Client, receive: (event: Event) => void): () => void {
  const request = { query: HomeEvents.toString(), variables: { after: null as string | null } };
  return client.subscribe<HomeEventsSubscription>(request, {
    next: ({ data }) => {
      if (!data?.homeTimeline) return;
      request.variables.after = data.homeTimeline.cursor;
      receive(data.homeTimeline);
    },
    error: (reason) => {
      throw reason;
    },
    complete: () => {},
  });
}

function complete(payload: { accessToken?: string | null; refreshToken?: string | null } | null | undefined): Tokens {
  if (!payload?.accessToken || !payload.refreshToken) throw new Error("refused");
  return { accessToken: payload.accessToken, refreshToken: payload.refreshToken };
}
