import { useState } from "react";
import { useMutation, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { useErrorText } from "../../parts/i18n/useErrorText";
import { type Picture, pictureFragment } from "../../parts/pictures/fragments";
import { ChosenPictures, PictureButton } from "../../parts/pictures/PictureField";
import { PictureImage } from "../../parts/pictures/PictureImage";
import { imageInputs, type KeptPicture, useUploads } from "../../parts/pictures/useUploads";
import controls from "../../parts/ui/controls.module.css";
import styles from "./settings.module.css";

const OWN = graphql(
  `query OwnPictures { viewer { id user { id avatar { ...Picture } header { ...Picture } } } }`,
  [pictureFragment],
);

const UPDATE = graphql(
  `
  mutation UpdatePictures($input: UpdateProfileInput!) {
    updateProfile(input: $input) {
      viewer { id user { id avatar { ...Picture } header { ...Picture } } }
      userErrors { code message field }
    }
  }
`,
  [pictureFragment],
);

const ONE = 1;

/** The member's avatar and header. */
export function ProfilePictures() {
  const [{ data }] = useQuery({ query: OWN });
  const user = data?.viewer?.user;
  if (!user) return null;
  return (
    <>
      <ProfilePicture kind="avatar" picture={user.avatar} />
      <ProfilePicture kind="header" picture={user.header} />
    </>
  );
}

interface ProfilePictureProps {
  kind: "avatar" | "header";
  picture: Picture | null;
}

function ProfilePicture({ kind, picture }: ProfilePictureProps) {
  const t = useTranslations("pictures");
  const settings = useTranslations("settings");
  const errorText = useErrorText();
  const [kept, setKept] = useState<KeptPicture[]>([]);
  const [{ data, error, fetching }, update] = useMutation(UPDATE);
  const uploads = useUploads(kind === "avatar" ? "AVATAR" : "HEADER", [], setKept, ONE);
  const refused = error ?? data?.updateProfile?.userErrors[0];

  async function save(pictures: KeptPicture[]) {
    const result = await update({ input: { [kind]: imageInputs(pictures)[0] ?? null } });
    if (result.data?.updateProfile?.userErrors.length === 0) uploads.clear();
  }

  return (
    <section className={controls.panel} aria-label={t(kind)}>
      <h2>{t(kind)}</h2>
      {picture && (
        <div className={styles[kind]}>
          <PictureImage
            picture={picture}
            sizes={kind === "avatar" ? "96px" : "(min-width: 700px) 580px, 100vw"}
          />
        </div>
      )}
      <ChosenPictures uploads={uploads} />
      {refused && (
        <p className={controls.error} role="alert">
          {errorText(refused)}
        </p>
      )}
      <div className={controls.row}>
        {picture && uploads.chosen.length === 0 && (
          <button type="button" className={controls.button} disabled={fetching} onClick={() => void save([])}>
            {t("removeThis")}
          </button>
        )}
        <PictureButton uploads={uploads} most={ONE} label={t("choose")} />
        {uploads.chosen.length > 0 && (
          <button
            type="button"
            className={controls.primary}
            disabled={fetching || !uploads.isReady}
            onClick={() => void save(kept)}
          >
            {settings("save")}
          </button>
        )}
      </div>
    </section>
  );
}
