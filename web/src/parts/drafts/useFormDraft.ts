import { useState } from "react";
import { useSession } from "../../data/session/session";
import { dropDraft, keepDraft, readDraft } from "./drafts";

/** A form that is not sent yet. Its key makes sending twice the same as sending once. */
interface FormDraft<Fields> {
  fields: Fields;
  key: string;
  keep: (change: Partial<Fields>) => void;
  drop: () => void;
}

/** Returns the fields of a form as the member left them, which also outlive a reload. */
export function useFormDraft<Fields extends object>(subject: string, first: Fields): FormDraft<Fields> {
  const userId = useSession()?.userId ?? "";
  const [draft, setDraft] = useState(() => readDraft(userId, subject));
  const fields = draft.text === "" ? first : { ...first, ...(JSON.parse(draft.text) as Partial<Fields>) };
  return {
    fields,
    key: draft.key,
    keep: (change) => setDraft(keepDraft(userId, subject, JSON.stringify({ ...fields, ...change }))),
    drop: () => dropDraft(userId, subject),
  };
}
