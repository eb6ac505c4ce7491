// The tokens of the member who uses this tab, and requests that carry the access token.
//
// Both tokens are kept in sessionStorage, so they are gone when the tab is closed.

export const ENDPOINT = new URL(window.location.pathname, window.location.origin);

const ACCEPT = "application/graphql-response+json, application/json";
const TOKEN_KEY = "perch:accessToken";
const REFRESH_KEY = "perch:refreshToken";
const REFRESH = `mutation RefreshSession($refreshToken: String!) {
  refreshSession(input: { refreshToken: $refreshToken }) { accessToken refreshToken }
}`;

const storage = window.sessionStorage;
/** The event of the window that says that the tokens are others now. */
export const KEPT = "perch:kept";

let refreshing; // the refresh under way: all who need one share it

/** Return the access token, or an empty string. */
export const token = () => storage.getItem(TOKEN_KEY) ?? "";

/** Return the header that names the member, if there is one. */
export const authorization = () => (token() ? { Authorization: `Bearer ${token()}` } : {});

/** Keep the tokens of a session, or none; a refresh token of another session is dropped. */
export function keep(accessToken, refreshToken) {
  if (accessToken === token() && !refreshToken) return; // the same token, put in its place again
  put(TOKEN_KEY, accessToken);
  put(REFRESH_KEY, accessToken && refreshToken);
  window.dispatchEvent(new Event(KEPT));
}

function put(key, value) {
  if (value) storage.setItem(key, value);
  else storage.removeItem(key);
}

/** Send an operation and return the answer; throws an Error when that is not JSON. */
export async function post(operation, headers) {
  const response = await fetch(ENDPOINT, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: ACCEPT, ...headers },
    body: JSON.stringify(operation),
  });
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${response.status} ${response.statusText}: ${text}`); // for example a proxy's error page
  }
}

/** Send an operation as the member; when the access token is refused, refresh it and send the operation once more. */
export async function postAsMember(operation, headers) {
  const used = token();
  const result = await post(operation, { ...authorization(), ...headers });
  // An answer without data refuses the whole request. So no part of a mutation is done twice.
  const retry = !result.data && isRefused(result) && (await refresh(used));
  return retry ? post(operation, { ...authorization(), ...headers }) : result;
}

/** Return whether an answer says that the member has to log in. */
export function isRefused(result) {
  return result.errors?.some((error) => error.extensions?.code === "UNAUTHENTICATED") ?? false;
}

/** Return whether there is another access token than the refused one, after refreshing it if there is not. */
export async function refresh(refused) {
  if (token() !== refused) return token() !== "";
  refreshing ??= trade().finally(() => (refreshing = undefined));
  return refreshing;
}

async function trade() {
  const refreshToken = storage.getItem(REFRESH_KEY);
  if (!refreshToken) return false;
  const result = await post({ query: REFRESH, variables: { refreshToken } });
  if (storage.getItem(REFRESH_KEY) !== refreshToken) return token() !== ""; // the member logged in or out meanwhile
  const session = result.data?.refreshSession;
  if (session?.accessToken) keep(session.accessToken, session.refreshToken);
  else if (session) storage.removeItem(REFRESH_KEY); // it is used up, or the session has ended
  return Boolean(session?.accessToken);
}
