import { Menu, MenuButton, MenuItem, MenuProvider } from "@ariakit/react";
import { lazy, Suspense, useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { moderates } from "../groups/fragments";
import { Confirm } from "../ui/Confirm";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import { usePostAction } from "./actions";
import { useComposer } from "./composer";
import type { Body } from "./fragments";
import { remove } from "./removed";

const CHOICES = graphql(`
  query PostChoices($group: ID!) {
    viewer { id user { id pinnedPost { __typename id } } }
    node(id: $group) { __typename id ... on Group { viewerRole } }
  }
`);

const ReportDialog = lazy(() => import("../reports/ReportDialog"));

/** What is done less often with a post. */
export default function PostMenuOpen({ post }: { post: Body }) {
  const t = useTranslations("post");
  const [, compose] = useComposer();
  const [isAsking, setAsking] = useState(false);
  const [isReporting, setReporting] = useState(false);
  const act = usePostAction();
  const isOwn = useSession()?.userId === post.author.id;
  const group = post.__typename === "Status" ? (post.group?.id ?? "") : "";
  const [{ data }] = useQuery({ query: CHOICES, variables: { group }, pause: !isOwn && group === "" });
  const looksAfter = data?.node?.__typename === "Group" && moderates(data.node);
  const isPinned = data?.viewer?.user.pinnedPost?.id === post.id;

  async function erase() {
    setAsking(false);
    const result = await act("deletePost", post.id);
    if (!result.error) remove(post.id);
  }

  return (
    <>
      <MenuProvider placement="bottom-end" defaultOpen>
        <MenuButton className={controls.icon} aria-label={t("more")}>
          <Icon name="more" />
        </MenuButton>
        <Menu className={controls.menu} gutter={4} unmountOnHide autoFocusOnShow>
          <MenuItem onClick={() => compose({ kind: "quote", post })}>
            <Icon name="quote" /> {t("quote")}
          </MenuItem>
          <MenuItem
            onClick={() => void navigator.clipboard?.writeText(`${location.origin}/posts/${post.id}`)}
          >
            <Icon name="link" /> {t("copyLink")}
          </MenuItem>
          {!isOwn && (
            <MenuItem onClick={() => setReporting(true)}>
              <Icon name="flag" /> {t("report")}
            </MenuItem>
          )}
          {isOwn && !post.isHidden && (
            <MenuItem onClick={() => void act(isPinned ? "unpinPost" : "pinPost", post.id)}>
              <Icon name="pin" /> {t(isPinned ? "unpin" : "pin")}
            </MenuItem>
          )}
          {isOwn && (
            <MenuItem onClick={() => void act(post.isHidden ? "unhidePost" : "hidePost", post.id)}>
              <Icon name="lock" /> {t(post.isHidden ? "unhide" : "hide")}
            </MenuItem>
          )}
          {(isOwn || looksAfter) && (
            <MenuItem onClick={() => setAsking(true)}>
              <Icon name="trash" /> {t("delete")}
            </MenuItem>
          )}
        </Menu>
      </MenuProvider>
      {isReporting && (
        <Suspense fallback={null}>
          <ReportDialog subjectId={post.id} onClose={() => setReporting(false)} />
        </Suspense>
      )}
      {isAsking && (
        <Confirm
          title={t("deleteTitle")}
          hint={t("deleteHint")}
          action={t("delete")}
          onConfirm={erase}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
