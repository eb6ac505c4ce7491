declare global {
  interface Window {
    trustedTypes?: {
      createPolicy: (
        name: string,
        rules: { createScriptURL: () => string },
      ) => { createScriptURL: (url: string) => string };
    };
  }
}

const WORKER = "/sw.js";

/** Starts the service worker, which keeps the client's files for days without a network. */
export function startWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  // The page's policy takes scripts from this one place only.
  const policy = window.trustedTypes?.createPolicy("perch-worker", { createScriptURL: () => WORKER });
  addEventListener("load", register);
  if (document.readyState === "complete") register();

  function register() {
    navigator.serviceWorker.register(policy?.createScriptURL(WORKER) ?? WORKER).catch(() => {});
  }
}
