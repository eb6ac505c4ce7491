// GraphiQL for Perch: HTTP for queries and mutations, a websocket for subscriptions, one access token for both.

import { EXAMPLES } from "./examples.js";

const { React, ReactDOM, GraphiQL, graphqlWs } = window;

const ENDPOINT = new URL(window.location.pathname, window.location.origin);
const SOCKET = new URL(ENDPOINT.pathname, ENDPOINT.origin.replace(/^http/, "ws"));
const ACCEPT = "application/graphql-response+json, application/json";
const TOKEN_KEY = "perch:accessToken";
const WHO_AM_I = "{ viewer { user { login } } }";

// Everything is in sessionStorage, GraphiQL's own state too, so typed passwords and tokens are gone with the tab.
const storage = window.sessionStorage;
const form = document.getElementById("session");
const input = document.getElementById("token");
const standing = document.getElementById("standing");

const token = () => storage.getItem(TOKEN_KEY) ?? "";
const authorization = () => (token() ? { Authorization: `Bearer ${token()}` } : {});

// ---------------------------------------------------------------- viewer

function show(kind, text) {
  standing.dataset.standing = kind;
  standing.textContent = text;
}

async function showStanding(note = "") {
  const asked = token();
  if (!asked) return show("anonymous", "anonymous");
  const result = await post({ query: WHO_AM_I }, authorization()).catch(() => undefined);
  if (asked !== token()) return undefined; // the token has changed meanwhile, so this answer is obsolete
  if (!result) return show("unknown", "the server cannot be reached");
  const login = result.data?.viewer?.user.login;
  if (login) return show("member", `signed in as @${login}${note}`);
  return isRefused(result) ? show("refused", "token refused") : show("unknown", "the token could not be checked");
}

function useToken(value, note) {
  const bare = value.trim().replace(/^Bearer\s+/i, "");
  if (bare) storage.setItem(TOKEN_KEY, bare);
  else storage.removeItem(TOKEN_KEY);
  input.value = bare;
  return showStanding(note);
}

function isRefused(result) {
  return result.errors?.some((error) => error.extensions?.code === "UNAUTHENTICATED") ?? false;
}

// Each mutation that opens a session (signUp, logIn, refreshSession, changePassword) returns a token, under any alias.
function takeOver(result) {
  const answered = Object.values(result.data ?? {}).find((field) => typeof field?.accessToken === "string");
  if (answered) return useToken(answered.accessToken, ": this answer's token is in use");
  return token() && showStanding(); // the mutation may have ended the session
}

// ---------------------------------------------------------------- transport

async function post(operation, headers) {
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

function subscribe(operation) {
  return {
    subscribe(observer) {
      // Each subscription has a socket of its own, which carries the current token. It never reconnects by itself:
      // a new subscription would continue from now, not from where the old one broke, and hide the lost events.
      const client = graphqlWs.createClient({
        url: SOCKET.href,
        connectionParams: authorization(),
        retryAttempts: 0,
      });
      const sink = {
        next: (result) => observer.next(result),
        complete: () => observer.complete(),
        error: (reason) => observer.error(readable(reason)),
      };
      return { unsubscribe: client.subscribe(operation, sink) };
    },
  };
}

function readable(reason) {
  if (!(reason instanceof CloseEvent)) return reason;
  if (reason.code === 4403) showStanding();
  return new Error(`The websocket was closed: ${reason.code} ${reason.reason}`);
}

function kindOf(operation, document) {
  const definitions = document?.definitions.filter((one) => one.kind === "OperationDefinition") ?? [];
  const named = definitions.find((one) => one.name?.value === operation.operationName);
  return (named ?? definitions[0])?.operation;
}

async function fetcher(operation, { documentAST, headers } = {}) {
  // The schema is the same for everybody. It is requested without the token, so a refused token doesn't hide it.
  if (operation.operationName === "IntrospectionQuery") return post(operation, headers);
  const kind = kindOf(operation, documentAST);
  if (kind === "subscription") return subscribe(operation);
  const result = await post(operation, { ...authorization(), ...headers });
  if (kind === "mutation" || isRefused(result)) takeOver(result);
  return result;
}

// ---------------------------------------------------------------- page

form.addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(input.value);
});
input.addEventListener("change", () => useToken(input.value));
document.getElementById("forget").addEventListener("click", () => useToken(""));

const defaultTabs = EXAMPLES.map(({ query, variables }) => ({
  query,
  variables: variables && JSON.stringify(variables, null, 2),
}));

// GraphiQL shows its first default tab without variables, because it reads them from its storage.
if (!storage.getItem("graphiql:tabState")) storage.setItem("graphiql:variables", defaultTabs[0].variables);

const options = {
  fetcher,
  defaultTabs,
  storage,
  shouldPersistHeaders: false,
  defaultEditorToolsVisibility: "variables", // members edit the examples there
};
ReactDOM.render(React.createElement(GraphiQL, options), document.getElementById("graphiql"));
useToken(token());
