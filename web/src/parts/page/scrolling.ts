import { useLayoutEffect, useRef } from "react";
import { useLocation } from "wouter";

// This module is loaded before the router, so it hears first how the member moved.
let isBack = false;
addEventListener("popstate", () => {
  isBack = true;
});
// The router dispatches these two.
for (const move of ["pushState", "replaceState"]) {
  addEventListener(move, () => {
    isBack = false;
  });
}

/** Returns whether the screen was reached with the back or forward button. */
export function wentBack(): boolean {
  return isBack;
}

/** Begins a new screen at its top. After the back button, the browser finds the place itself. */
export function useScrolling(): void {
  const [here] = useLocation();
  const before = useRef(here);
  useLayoutEffect(() => {
    if (before.current !== here && !isBack) scrollTo(0, 0);
    before.current = here;
  }, [here]);
}
