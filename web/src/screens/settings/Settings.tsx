import { useTranslations } from "use-intl";
import { Title } from "../../parts/page/Title";
import { Appearance } from "./Appearance";
import { Privacy } from "./Privacy";
import { ProfileForm } from "./ProfileForm";
import { ProfilePictures } from "./ProfilePictures";
import { Sessions } from "./Sessions";

/** What the member decides about themself and about this device. */
export default function Settings() {
  const t = useTranslations("settings");
  return (
    <>
      <Title text={t("title")} />
      <Appearance />
      <ProfileForm />
      <Privacy />
      <ProfilePictures />
      <Sessions />
    </>
  );
}
