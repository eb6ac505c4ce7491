import type { CombinedError } from "@urql/core";
import { type FormEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { useFormDraft } from "../../parts/drafts/useFormDraft";
import type { GroupHead } from "../../parts/groups/fragments";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";
import { Field } from "../../parts/ui/Field";

const KINDS = ["PUBLIC", "ANNOUNCEMENT", "PRIVATE"] as const;

export type GroupFields = Pick<GroupHead, "name" | "description" | "kind">;

interface GroupFormProps {
  subject: string;
  first: GroupFields;
  button: string;
  send: (fields: GroupFields, key: string) => Promise<UserError[] | CombinedError>;
}

/** The name, description and kind of a group. What was typed is kept until it is sent. */
export function GroupForm({ subject, first, button, send }: GroupFormProps) {
  const t = useTranslations("groups");
  const id = useId();
  const draft = useFormDraft(subject, first);
  const [refused, setRefused] = useState<UserError[]>([]);
  const [failed, setFailed] = useState<UserError | CombinedError>();
  const [isBusy, setBusy] = useState(false);
  const { name, description, kind } = draft.fields;

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    const outcome = await send(draft.fields, draft.key);
    setBusy(false);
    const errors = Array.isArray(outcome) ? outcome : [];
    setRefused(errors);
    setFailed(Array.isArray(outcome) ? errors.find(({ field }) => field?.[0] !== "name") : outcome);
    if (Array.isArray(outcome) && errors.length === 0) draft.drop();
  }

  return (
    <form className={controls.panel} onSubmit={submit}>
      <Field
        name="name"
        label={t("name")}
        value={name}
        onChange={(event) => draft.keep({ name: event.target.value })}
        required
        refused={refused}
      />
      <div className={controls.field}>
        <label htmlFor={id}>{t("description")}</label>
        <textarea
          id={id}
          rows={4}
          dir="auto"
          value={description}
          onChange={(event) => draft.keep({ description: event.target.value })}
        />
      </div>
      <fieldset>
        <legend className="unseen">{t("kind")}</legend>
        {KINDS.map((one) => (
          <label key={one} className={controls.choice}>
            <input
              type="radio"
              name="kind"
              checked={kind === one}
              onChange={() => draft.keep({ kind: one })}
            />
            <span>
              <b>{t(one)}</b> <span className={controls.hint}>{t(`${one}_HINT`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Problem error={failed} />
      <div className={controls.row}>
        <button type="submit" className={controls.primary} disabled={isBusy}>
          {button}
        </button>
      </div>
    </form>
  );
}
