import { Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider } from "@ariakit/react";
import { type FocusEvent, useDeferredValue, useState } from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { fitting } from "../../parts/picker/fitting";
import { authorFragment } from "../../parts/post/fragments";
import { Avatar } from "../../parts/ui/Avatar";
import controls from "../../parts/ui/controls.module.css";
import styles from "./explore.module.css";
import type { Begun } from "./MemberSearch";

const SEARCH = graphql(
  `query Search($prefix: String!) { searchUsers(prefix: $prefix, first: 8) { nodes { ...Author bio } } }`,
  [authorFragment],
);

/** The field once it is used. It goes on with what was typed while it was loaded. */
export default function MemberSearchOpen({ typed, isFocused }: Begun) {
  const t = useTranslations("explore");
  const [, go] = useLocation();
  const [text, setText] = useState(typed);
  const sought = text.trim().replace(/^@/, "");
  const prefix = useDeferredValue(sought);
  const [{ data, operation }] = useQuery({ query: SEARCH, variables: { prefix }, pause: prefix === "" });
  const foundFor = operation?.variables.prefix;
  const members = prefix === "" ? [] : fitting(data?.searchUsers.nodes ?? [], foundFor, sought);
  return (
    <ComboboxProvider value={text} setValue={setText} defaultOpen={typed !== ""}>
      <Combobox
        autoSelect
        autoFocus={isFocused}
        onFocus={toEnd}
        className={styles.entry}
        aria-label={t("search")}
        placeholder={t("search")}
        type="search"
        autoCapitalize="none"
      />
      <ComboboxPopover
        sameWidth
        gutter={4}
        unmountOnHide
        className={controls.menu}
        hidden={prefix === ""}
        portal
      >
        {members.map(({ id, name, login, bio, avatar }) => (
          <ComboboxItem
            key={id}
            value={login}
            className={styles.member}
            setValueOnClick={false}
            focusOnHover
            onClick={() => go(`/@${login}`)}
          >
            <Avatar id={id} name={name} avatar={avatar} />
            <span>
              <b>{name}</b> @{login}
              <small>{bio}</small>
            </span>
          </ComboboxItem>
        ))}
        {foundFor === sought && data && members.length === 0 && (
          <p className={styles.none}>{t("noResults")}</p>
        )}
      </ComboboxPopover>
    </ComboboxProvider>
  );
}

/** Leaves the caret behind what was typed. */
function toEnd({ target }: FocusEvent<HTMLInputElement>) {
  target.setSelectionRange(target.value.length, target.value.length);
}
