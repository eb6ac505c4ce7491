import { type FormEvent, useId, useState } from "react";
import { useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useErrorText } from "../../parts/i18n/useErrorText";
import controls from "../../parts/ui/controls.module.css";
import { Field } from "../../parts/ui/Field";

const OWN = graphql(`query OwnProfile { viewer { id user { id name bio isPrivate } } }`);

const UPDATE = graphql(`
  mutation UpdateProfile($input: UpdateProfileInput!) {
    updateProfile(input: $input) {
      viewer { id user { id name bio isPrivate } }
      userErrors { code message field }
    }
  }
`);

/** What others see of the member, and who sees their posts. */
export function ProfileForm() {
  const t = useTranslations("settings");
  const session = useTranslations("session");
  const errorText = useErrorText();
  const id = useId();
  const [{ data }] = useQuery({ query: OWN });
  const [result, update] = useMutation(UPDATE);
  const [isSaved, setSaved] = useState(false);
  const user = data?.viewer?.user;
  if (!user) return null;
  const refused = result.data?.updateProfile?.userErrors ?? [];

  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const { data: answer } = await update({
      input: {
        name: String(fields.get("name")),
        bio: String(fields.get("bio")),
        isPrivate: fields.has("isPrivate"),
      },
    });
    setSaved(answer?.updateProfile?.userErrors.length === 0);
  }

  return (
    <form className={controls.panel} onSubmit={save} onChange={() => setSaved(false)} key={user.id}>
      <h2>{t("profile")}</h2>
      <Field
        name="name"
        label={session("name")}
        defaultValue={user.name}
        autoComplete="name"
        refused={refused}
      />
      <div className={controls.field}>
        <label htmlFor={id}>{t("bio")}</label>
        <textarea id={id} name="bio" rows={4} defaultValue={user.bio} dir="auto" />
      </div>
      <label className={controls.choice}>
        <input type="checkbox" name="isPrivate" defaultChecked={user.isPrivate} /> {t("isPrivate")}
      </label>
      {result.error && (
        <p className={controls.error} role="alert">
          {errorText(result.error)}
        </p>
      )}
      <div className={controls.row}>
        <span role="status">{isSaved && t("saved")}</span>
        <button type="submit" className={controls.primary} disabled={result.fetching}>
          {t("save")}
        </button>
      </div>
    </form>
  );
}
