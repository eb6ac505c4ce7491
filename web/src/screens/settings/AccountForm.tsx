import { type FormEvent, type ReactNode, useState } from "react";
import type { UserError } from "../../data/graphql/errors";
import type { Outcome } from "../../data/graphql/useOpening";
import { Problem } from "../../parts/page/Problem";
import controls from "../../parts/ui/controls.module.css";

export type Fields = Record<string, string>;

interface AccountFormProps {
  button: string;
  isDanger?: boolean;
  /** What is said once the change is made. */
  done?: string;
  send: (fields: Fields) => Promise<Outcome>;
  children: (refused: UserError[]) => ReactNode;
}

/** A form that changes the account. Its passwords and codes are dropped once they were accepted. */
export function AccountForm({ button, isDanger, done, send, children }: AccountFormProps) {
  const [outcome, setOutcome] = useState<Outcome>({ refused: [] });
  const [isDone, setDone] = useState(false);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    setBusy(true);
    const result = await send(Object.fromEntries(new FormData(form)) as Fields);
    setBusy(false);
    setOutcome(result);
    const isAccepted = result.refused.length === 0 && !result.failed;
    setDone(isAccepted);
    if (isAccepted) form.reset();
  }

  return (
    <form className={controls.form} onSubmit={(event) => void submit(event)} onChange={() => setDone(false)}>
      {children(outcome.refused)}
      <Problem error={outcome.failed ?? outcome.refused.find(({ field }) => field === null)} />
      <div className={controls.row}>
        <span role="status">{isDone && done}</span>
        <button type="submit" className={isDanger ? controls.danger : controls.primary} disabled={isBusy}>
          {button}
        </button>
      </div>
    </form>
  );
}
