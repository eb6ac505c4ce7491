import "./parts/ui/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import "./parts/page/scrolling";
import { startWorker } from "./app/worker";
import { startLanguage, Texts } from "./parts/i18n/language";
import { startTheme } from "./parts/ui/theme";

startTheme();
await startLanguage();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Texts>
      <App />
    </Texts>
  </StrictMode>,
);
if (import.meta.env.PROD) startWorker();
