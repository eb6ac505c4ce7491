import { expect, test } from "@playwright/test";
import { complaints } from "../build/layers.mjs";

test("imports to lower layers and within a room are allowed", () => {
  const files = {
    "main.tsx": 'import { App } from "./app/App";',
    "app/App.tsx": 'const Home = lazy(() => import("../screens/home/Home"));',
    "screens/home/Home.tsx":
      'import { PostCard } from "../../parts/post/PostCard"; import { HOME } from "./queries";',
    "parts/post/PostCard.tsx":
      'import { graphql } from "../../data/graphql/tada"; import styles from "../ui/a.css";',
  };
  expect(complaints(files)).toEqual([]);
});

test("an import from a layer above is named, a style sheet's too", () => {
  const files = {
    "data/session/session.ts": 'import type { Props } from "../../parts/page/Title";',
    "parts/page/title.module.css": '.back { composes: icon from "../../app/shell.module.css"; }',
    "parts/page/Title.tsx": 'import { start } from "../../main";',
  };
  expect(complaints(files)).toEqual([
    "data/session/session.ts imports parts/page/Title, which is in a layer above",
    "parts/page/title.module.css imports app/shell.module.css, which is in a layer above",
    "parts/page/Title.tsx imports main, which is in a layer above",
  ]);
});

test("an import from another screen is named", () => {
  const files = { "screens/settings/Aside.tsx": 'import { Row } from "../profile/Row";' };
  expect(complaints(files)).toEqual([
    "screens/settings/Aside.tsx imports screens/profile/Row, which belongs to another screen",
  ]);
});

test("rooms that import each other in a circle are named", () => {
  const files = {
    "parts/post/Menu.tsx": 'const Dialog = lazy(() => import("../reports/Dialog"));',
    "parts/reports/Dialog.tsx": 'import { useDraft } from "../compose/useDraft";',
    "parts/compose/Composer.tsx": 'import { PostText } from "../post/PostText";',
  };
  expect(complaints(files)).toEqual([
    "parts/compose/Composer.tsx imports parts/post/PostText, in a circle: " +
      "parts/post → parts/reports → parts/compose → parts/post",
  ]);
});
