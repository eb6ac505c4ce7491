import { Combobox, ComboboxItem, ComboboxPopover, useComboboxStore } from "@ariakit/react";
import {
  type ChangeEvent,
  type ComponentProps,
  type FormEvent,
  type KeyboardEvent,
  useRef,
  useState,
} from "react";
import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { fitting } from "../picker/fitting";
import { authorFragment } from "../post/fragments";
import { Avatar } from "../ui/Avatar";
import controls from "../ui/controls.module.css";
import styles from "./compose.module.css";

const MATCHES = graphql(
  `query Matches($prefix: String!) { searchUsers(prefix: $prefix, first: 6) { nodes { ...Author } } }`,
  [authorFragment],
);

const BEGUN = /(?:^|[^\p{L}\p{N}_@])[@＠](\w{1,20})$/u; // a mention that ends where the caret is

interface MentionAreaProps {
  label: string;
  placeholder: string;
  rows?: number;
  /** Whether the member writes here as soon as it is shown. */
  isFirst?: boolean;
  value: string;
  onChange: (text: string) => void;
  onSubmit: (event: FormEvent) => void;
}

/** A text to write. After @ and a letter, it offers members whose name or login begins so. */
export function MentionArea(props: MentionAreaProps) {
  const { label, placeholder, rows = 5, isFirst = true, value, onChange, onSubmit } = props;
  const t = useTranslations("compose");
  const area = useRef<HTMLTextAreaElement>(null);
  const [prefix, setPrefix] = useState("");
  const combobox = useComboboxStore({ placement: "bottom-start" });
  const [{ data, operation }] = useQuery({ query: MATCHES, variables: { prefix }, pause: prefix === "" });
  const found = data?.searchUsers.nodes ?? [];
  const members = prefix === "" ? [] : fitting(found, operation?.variables.prefix, prefix);

  function change(event: ChangeEvent<HTMLTextAreaElement>) {
    const { value: text, selectionStart } = event.target;
    onChange(text);
    const begun = BEGUN.exec(text.slice(0, selectionStart))?.[1] ?? "";
    setPrefix(begun);
    if (begun) combobox.show();
    else combobox.hide();
  }

  function complete(login: string) {
    const caret = area.current?.selectionStart ?? value.length;
    const before = `${value.slice(0, caret - prefix.length)}${login} `;
    onChange(before + value.slice(caret));
    setPrefix("");
    combobox.hide();
    requestAnimationFrame(() => area.current?.setSelectionRange(before.length, before.length));
  }

  function press(event: KeyboardEvent) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit(event);
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") combobox.hide();
  }

  return (
    <>
      <Combobox
        store={combobox}
        autoSelect
        autoComplete="list"
        value={value}
        showOnClick={false}
        showOnChange={false}
        showOnKeyPress={false}
        setValueOnChange={false}
        setValueOnClick={false}
        // A text of several lines may not have the role of a combobox. It may point to the member who is offered.
        role="textbox"
        aria-label={label}
        placeholder={placeholder}
        className={styles.area}
        autoFocus={isFirst}
        data-rows={rows}
        render={<Area ref={area} rows={rows} dir="auto" onChange={change} onKeyDown={press} />}
      />
      <ComboboxPopover
        store={combobox}
        hidden={members.length === 0}
        unmountOnHide
        fixed
        gutter={4}
        className={controls.menu}
        aria-label={t("members")}
      >
        {members.map(({ id, login, name, avatar }) => (
          <ComboboxItem
            key={id}
            value={login}
            focusOnHover
            setValueOnClick={false}
            className={styles.member}
            onClick={() => complete(login)}
          >
            <Avatar id={id} name={name} avatar={avatar} />
            <span>
              <b>{name}</b> @{login}
            </span>
          </ComboboxItem>
        ))}
      </ComboboxPopover>
    </>
  );
}

function Area({ "aria-expanded": _, ...props }: ComponentProps<"textarea">) {
  return <textarea {...props} />;
}
