import { currentSession, forgetSession, keepDeviceToken, keepSession } from "./session";

const EARLY_MS = 30_000; // a token is refreshed so long before it expires
const LOCK = "perch.refresh";

const REFRESH = `mutation Refresh($refreshToken: String!) {
  refreshSession(input: { refreshToken: $refreshToken }) {
    accessToken refreshToken deviceToken expiresAt userErrors { code }
  }
}`;

interface Answer {
  data?: {
    refreshSession: {
      accessToken: string | null;
      refreshToken: string | null;
      deviceToken: string | null;
      expiresAt: string | null;
      userErrors: { code: string }[];
    } | null;
  };
}

/** Returns an access token that works for a while, or null without a session. Throws without a connection. */
export async function freshToken(): Promise<string | null> {
  const session = currentSession();
  if (session === null) return null;
  if (Date.parse(session.expiresAt) - Date.now() > EARLY_MS) return session.accessToken;
  return replaceToken(session.accessToken);
}

/**
 * Returns a token in place of one that does not work any more, or null when the session has ended.
 *
 * A refresh token works once, so only one tab trades it at a time. The others find the new pair when their turn comes.
 */
export async function replaceToken(worn: string): Promise<string | null> {
  return navigator.locks.request(LOCK, async () => {
    const session = currentSession();
    if (session === null) return null;
    if (session.accessToken !== worn) return session.accessToken;
    const response = await fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query: REFRESH, variables: { refreshToken: session.refreshToken } }),
    });
    const payload = ((await response.json()) as Answer).data?.refreshSession;
    if (!payload) throw new TypeError("The session could not be refreshed just now"); // 429, 503: the session stays
    if (payload.accessToken === null || payload.refreshToken === null || payload.expiresAt === null) {
      forgetSession();
      return null;
    }
    if (payload.deviceToken !== null) keepDeviceToken(payload.deviceToken);
    keepSession({
      ...session,
      accessToken: payload.accessToken,
      refreshToken: payload.refreshToken,
      expiresAt: payload.expiresAt,
    });
    return payload.accessToken;
  });
}
