// GraphiQL for Perch: HTTP for queries and mutations, a websocket for subscriptions, one access token for both.

import { filled, remember } from "./answers.js";
import { EXAMPLES } from "./examples.js";
import { subscribe } from "./live.js";
import { KEPT, isRefused, keep, post, postAsMember, token } from "./session.js";

const { React, ReactDOM, GraphiQL } = window;

const WHO_AM_I = "{ viewer { user { login } } }";

// Everything is in sessionStorage, GraphiQL's own state too, so typed passwords and tokens are gone with the tab.
const storage = window.sessionStorage;
const form = document.getElementById("session");
const input = document.getElementById("token");
const account = document.getElementById("account");

// ---------------------------------------------------------------- viewer

function show(kind, text) {
  account.dataset.state = kind;
  account.textContent = text;
}

let asked = 0; // how often the server was asked who the member is

async function showAccount(note = "") {
  const turn = ++asked;
  if (!token()) return show("anonymous", "anonymous");
  const result = await postAsMember({ query: WHO_AM_I }).catch(() => undefined);
  if (turn !== asked) return undefined; // the token has changed meanwhile, so this answer is obsolete
  if (!result) return show("unknown", "the server cannot be reached");
  const login = result.data?.viewer?.user.login;
  if (login) return show("member", `signed in as @${login}${note}`);
  return isRefused(result) ? show("refused", "token refused") : show("unknown", "the token could not be checked");
}

function useToken(value, note, refreshToken) {
  keep(value.trim().replace(/^Bearer\s+/i, ""), refreshToken);
  showToken();
  return showAccount(note);
}

function showToken() {
  input.value = token();
}

// Each mutation that opens a session (signUp, logIn, refreshSession, changePassword) returns a token, under any alias.
function takeOver(result) {
  const answered = Object.values(result.data ?? {}).find((field) => typeof field?.accessToken === "string");
  if (answered) return useToken(answered.accessToken, ": this answer's token is in use", answered.refreshToken);
  return token() && showAccount(); // the mutation may have ended the session
}

// ---------------------------------------------------------------- operations

const OPERATION = /^(query|mutation|subscription)\s+(\w+)/gm;

/** Return the kind and the name of the operation to run. */
function chosen({ query, operationName }, document) {
  const written = [...query.matchAll(OPERATION)].map(([, kind, name]) => ({ kind, name }));
  const named = written.find(({ name }) => name === operationName);
  if (named) return named;
  // GraphiQL reads a document a moment after its tab is opened. Until then it names an operation of the tab before.
  const isWritten = new RegExp(`\\b(query|mutation|subscription)\\s+${operationName}\\b`).test(query);
  if (written.length === 1 && !isWritten) return written[0];
  const definitions = document?.definitions.filter((one) => one.kind === "OperationDefinition") ?? [];
  const parsed = definitions.find((one) => one.name?.value === operationName) ?? definitions[0];
  return { kind: parsed?.operation, name: operationName };
}

async function fetcher(written, { documentAST, headers } = {}) {
  // The schema is the same for everybody. It is requested without the token, so a refused token doesn't hide it.
  if (written.operationName === "IntrospectionQuery") return post(written, headers);
  const { kind, name } = chosen(written, documentAST);
  const operation = { ...written, operationName: name, variables: filled(written.variables) };
  if (kind === "subscription") return subscribe(operation, () => showAccount());
  const result = await postAsMember(operation, headers);
  remember(name, result.data);
  if (kind === "mutation" || isRefused(result)) takeOver(result);
  return result;
}

// ---------------------------------------------------------------- page

form.addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(input.value);
});
window.addEventListener(KEPT, showToken); // the token was refreshed
input.addEventListener("change", () => useToken(input.value));
document.getElementById("forget").addEventListener("click", () => useToken(""));

const defaultTabs = EXAMPLES.map(({ query, variables }) => ({
  query,
  variables: variables && JSON.stringify(variables, null, 2),
}));

// GraphiQL shows the first of its default tabs without its variables. The first example has none.
const options = {
  fetcher,
  defaultTabs,
  storage,
  shouldPersistHeaders: false,
  defaultEditorToolsVisibility: "variables", // members edit the examples there
};
ReactDOM.render(React.createElement(GraphiQL, options), document.getElementById("graphiql"));
useToken(token());
