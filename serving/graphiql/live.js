// Subscriptions over a websocket: every event is added to the list that GraphiQL shows, newest first.

import { ENDPOINT, authorization, isRefused, refresh, token } from "./session.js";

const { graphqlWs } = window;

const SOCKET = new URL(ENDPOINT.pathname, ENDPOINT.origin.replace(/^http/, "ws"));
const MOST_EVENTS = 50; // the oldest one is dropped then
const FORBIDDEN = 4403; // the close code of a refused token

/** Return an observable of the list of events; `onRefused` is called when the server refuses the token. */
export function subscribe(operation, onRefused) {
  return {
    subscribe(observer) {
      const live = new LiveList(operation, observer, onRefused);
      live.open();
      return { unsubscribe: () => live.stop() };
    },
  };
}

class LiveList {
  #events = [];
  #isRefreshed = false;
  #isStopped = false;
  #unsubscribe = () => {};

  constructor(operation, observer, onRefused) {
    this.operation = operation;
    this.observer = observer;
    this.onRefused = onRefused;
  }

  open() {
    // Each subscription has a socket of its own, which carries the current token. A broken socket
    // never reconnects by itself. Its subscription would continue from now, not from the break, and hide the lost events.
    const used = token();
    const client = graphqlWs.createClient({
      url: SOCKET.href,
      connectionParams: authorization(),
      retryAttempts: 0,
    });
    this.#unsubscribe = client.subscribe(this.operation, {
      next: (result) => this.#add(result),
      complete: () => this.observer.complete(),
      error: (reason) => this.#end(reason, used),
    });
  }

  stop() {
    this.#isStopped = true;
    this.#unsubscribe();
  }

  #add(event) {
    this.#events = [event, ...this.#events].slice(0, MOST_EVENTS);
    this.observer.next({ events: this.#events });
  }

  async #end(reason, used) {
    const refused = isForbidden(reason);
    if (refused && !this.#events.length && !this.#isRefreshed) {
      this.#isRefreshed = true;
      if ((await refresh(used).catch(() => false)) && !this.#isStopped) return this.open();
    }
    if (refused) this.onRefused();
    if (!this.#events.length) return this.observer.error(readable(reason));
    this.observer.next({ ended: String(readable(reason).message ?? reason), events: this.#events });
    return this.observer.complete();
  }
}

function isForbidden(reason) {
  return reason instanceof CloseEvent ? reason.code === FORBIDDEN : isRefused({ errors: [reason].flat() });
}

function readable(reason) {
  if (!(reason instanceof CloseEvent)) return Array.isArray(reason) && reason.length === 1 ? reason[0] : reason;
  return new Error(`The websocket was closed: ${reason.code} ${reason.reason}`);
}
