import { useTranslations } from "use-intl";
import { Title } from "../../parts/page/Title";
import { Deletion } from "./Deletion";
import { Email } from "./Email";
import { Export } from "./Export";
import { Password } from "./Password";
import { TwoFactor } from "./TwoFactor";

/** How the member logs in, what Perch keeps of them, and the end of the account. */
export default function Account() {
  const t = useTranslations("account");
  return (
    <>
      <Title text={t("title")} back />
      <Email />
      <Password />
      <TwoFactor />
      <Export />
      <Deletion />
    </>
  );
}
