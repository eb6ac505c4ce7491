import { type InputHTMLAttributes, useId } from "react";
import type { UserError } from "../../data/graphql/errors";
import { useErrorText } from "../i18n/useErrorText";
import controls from "./controls.module.css";

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
  hint?: string;
  refused: UserError[];
}

/** An entry with its label, its hint, and why it was refused. */
export function Field({ label, hint, refused, ...input }: FieldProps) {
  const id = useId();
  const errorText = useErrorText();
  const error = refused.find(({ field }) => field?.[0] === input.name);
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className={controls.field}>
      <label htmlFor={id}>{label}</label>
      <input id={id} aria-invalid={error !== undefined} aria-describedby={about || undefined} {...input} />
      {hint && (
        <p id={`${id}-hint`} className={controls.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className={controls.error} role="alert">
          {errorText(error)}
        </p>
      )}
    </div>
  );
}
