import { Menu, MenuButton, MenuItem, MenuProvider } from "@ariakit/react";
import { lazy, Suspense, useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import type { GroupHead } from "../../parts/groups/fragments";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { Problem } from "../../parts/page/Problem";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";

const ROLE = graphql(`query OwnRoleOnSite { viewer { id role } }`);
const ReportDialog = lazy(() => import("../../parts/reports/ReportDialog"));

/** Reports a group. Moderators of the site also hide it, and show it again. */
export function GroupMenu({ group }: { group: GroupHead }) {
  const t = useTranslations("groups");
  const [{ data }] = useQuery({ query: ROLE });
  const [isReporting, setReporting] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [act, problem] = useGroupAction();
  const role = data?.viewer?.role ?? "MEMBER";
  return (
    <>
      <MenuProvider placement="bottom-end">
        <MenuButton className={controls.icon} aria-label={t("more")}>
          <Icon name="more" />
        </MenuButton>
        <Menu className={controls.menu} gutter={4} unmountOnHide>
          <MenuItem onClick={() => setReporting(true)}>
            <Icon name="flag" /> {t("report")}
          </MenuItem>
          {role !== "MEMBER" && (
            <MenuItem onClick={() => (group.isHidden ? void act("unhide", group.id) : setAsking(true))}>
              <Icon name="lock" /> {t(group.isHidden ? "unhide" : "hide")}
            </MenuItem>
          )}
        </Menu>
      </MenuProvider>
      <Problem error={problem} />
      {isReporting && (
        <Suspense fallback={null}>
          <ReportDialog subjectId={group.id} onClose={() => setReporting(false)} />
        </Suspense>
      )}
      {isAsking && (
        <Confirm
          title={t("hideTitle", { name: group.name })}
          hint={t("hideHint")}
          action={t("hide")}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void act("hide", group.id);
          }}
        />
      )}
    </>
  );
}
