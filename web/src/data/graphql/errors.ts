/** Why the API refused something. */
export interface UserError {
  code: string;
  message: string;
  /** The field of the input that breaks a rule, or null. */
  field?: readonly string[] | null;
}
