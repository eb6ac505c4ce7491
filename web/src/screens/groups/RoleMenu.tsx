import { Menu, MenuButton, MenuItem, MenuProvider } from "@ariakit/react";
import { useState } from "react";
import { useTranslations } from "use-intl";
import type { GroupHead } from "../../parts/groups/fragments";
import { useGroupAction } from "../../parts/groups/useGroupAction";
import { Problem } from "../../parts/page/Problem";
import type { Author } from "../../parts/post/fragments";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { Icon } from "../../parts/ui/icons";

const ROLES = ["MEMBER", "MODERATOR", "OWNER"] as const;
type Role = (typeof ROLES)[number];

interface RoleMenuProps {
  group: GroupHead;
  member: Author;
  role: Role;
  isSelf: boolean;
}

/** Gives a member of a group a role, or removes them. Everybody may give up a role of their own. */
export function RoleMenu({ group, member, role, isSelf }: RoleMenuProps) {
  const t = useTranslations("groups");
  const [isAsking, setAsking] = useState(false);
  const [act, problem] = useGroupAction();
  const own = group.viewerRole === null ? -1 : ROLES.indexOf(group.viewerRole);
  const rank = ROLES.indexOf(role);
  const isOwner = group.viewerRole === "OWNER";
  const roles = ROLES.filter((_, place) => (isSelf ? place < rank : isOwner && rank < 2 && place !== rank));
  const mayRemove = !isSelf && own >= 1 && rank < own;
  if (roles.length === 0 && !mayRemove) return null;
  return (
    <>
      <MenuProvider placement="bottom-end">
        <MenuButton className={controls.icon} aria-label={t("moreOf", { name: member.name })}>
          <Icon name="more" />
        </MenuButton>
        <Menu className={controls.menu} gutter={4} unmountOnHide>
          {roles.map((one) => (
            <MenuItem
              key={one}
              onClick={() => void act("setRole", group.id, { userId: member.id, role: one })}
            >
              <Icon name={one === "MEMBER" ? "person" : "shield"} /> {t(`MAKE_${one}`)}
            </MenuItem>
          ))}
          {mayRemove && (
            <MenuItem onClick={() => setAsking(true)}>
              <Icon name="trash" /> {t("remove")}
            </MenuItem>
          )}
        </Menu>
      </MenuProvider>
      <Problem error={problem} />
      {isAsking && (
        <Confirm
          title={t("removeTitle", { name: member.name })}
          hint={t("removeHint")}
          action={t("remove")}
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            void act("remove", group.id, { userIds: [member.id] });
          }}
        />
      )}
    </>
  );
}
