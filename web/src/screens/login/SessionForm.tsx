import { type FormEvent, type ReactNode, useState } from "react";
import type { UserError } from "../../data/graphql/errors";
import type { Outcome } from "../../data/graphql/useOpening";
import { useErrorText } from "../../parts/i18n/useErrorText";
import controls from "../../parts/ui/controls.module.css";
import { Logo } from "../../parts/ui/icons";
import styles from "./login.module.css";

interface SessionFormProps {
  title: string;
  button: string;
  send: (fields: Record<string, string>) => Promise<Outcome>;
  children: (refused: UserError[]) => ReactNode;
  below: ReactNode;
}

/** A form that opens a session. Its fields keep what was typed until it is open. */
export function SessionForm({ title, button, send, children, below }: SessionFormProps) {
  const [outcome, setOutcome] = useState<Outcome>({ refused: [] });
  const [isBusy, setBusy] = useState(false);
  const errorText = useErrorText();

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    setBusy(true);
    setOutcome(await send(fields));
    setBusy(false);
  }

  const general = outcome.refused.find(({ field }) => field === null);
  return (
    <form className={styles.form} onSubmit={submit}>
      <Logo size={72} />
      <h1>{title}</h1>
      {children(outcome.refused)}
      {(general ?? outcome.failed) && (
        <p className={controls.error} role="alert">
          {errorText((general ?? outcome.failed) as UserError)}
        </p>
      )}
      <button type="submit" className={`${controls.primary} ${controls.wide}`} disabled={isBusy}>
        {button}
      </button>
      {below}
    </form>
  );
}
