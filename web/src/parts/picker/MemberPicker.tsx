import { Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider } from "@ariakit/react";
import { useDeferredValue, useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { type Author, authorFragment } from "../post/fragments";
import { Avatar } from "../ui/Avatar";
import controls from "../ui/controls.module.css";
import { Icon } from "../ui/icons";
import { fitting } from "./fitting";
import styles from "./picker.module.css";

const FOUND = graphql(
  `query Pick($prefix: String!) { searchUsers(prefix: $prefix, first: 8) { nodes { ...Author } } }`,
  [authorFragment],
);

interface MemberPickerProps {
  label: string;
  chosen: readonly Author[];
  onChange: (chosen: Author[]) => void;
}

/** Chooses members by the beginning of their name or login. */
export function MemberPicker({ label, chosen, onChange }: MemberPickerProps) {
  const t = useTranslations("picker");
  const userId = useSession()?.userId;
  const [text, setText] = useState("");
  const sought = text.trim().replace(/^@/, "");
  const prefix = useDeferredValue(sought);
  const [{ data, operation }] = useQuery({ query: FOUND, variables: { prefix }, pause: prefix === "" });
  const taken = new Set([userId, ...chosen.map(({ id }) => id)]);
  const foundFor = operation?.variables.prefix;
  const fit = prefix === "" ? [] : fitting(data?.searchUsers.nodes ?? [], foundFor, sought);
  const members = fit.filter(({ id }) => !taken.has(id));

  return (
    <div className={styles.picker}>
      {chosen.length > 0 && (
        <ul className={styles.chosen} aria-label={t("chosen")}>
          {chosen.map((member) => (
            <li key={member.id}>
              <span dir="auto">{member.name}</span>
              <button
                type="button"
                aria-label={t("remove", { name: member.name })}
                onClick={() => onChange(chosen.filter(({ id }) => id !== member.id))}
              >
                <Icon name="close" width="16" height="16" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <ComboboxProvider value={text} setValue={setText} resetValueOnHide>
        <Combobox
          autoSelect
          className={styles.entry}
          aria-label={label}
          placeholder={label}
          autoCapitalize="none"
          spellCheck={false}
        />
        <ComboboxPopover
          sameWidth
          gutter={4}
          unmountOnHide
          className={controls.menu}
          hidden={prefix === ""}
          portal
          aria-label={label}
        >
          {members.map((member) => (
            <ComboboxItem
              key={member.id}
              value={member.login}
              className={styles.member}
              setValueOnClick={false}
              focusOnHover
              onClick={() => onChange([...chosen, member])}
            >
              <Avatar {...member} />
              <span>
                <b dir="auto">{member.name}</b> @{member.login}
              </span>
            </ComboboxItem>
          ))}
          {foundFor === sought && data && members.length === 0 && <p className={styles.none}>{t("none")}</p>}
        </ComboboxPopover>
      </ComboboxProvider>
    </div>
  );
}
