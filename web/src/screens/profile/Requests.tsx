import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { graphql } from "../../data/graphql/tada";
import { MemberRow } from "../../parts/members/MemberRow";
import { type MemberAction, useMemberAction } from "../../parts/members/members";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { authorFragment } from "../../parts/post/fragments";
import controls from "../../parts/ui/controls.module.css";
import styles from "./profile.module.css";

const REQUESTS = graphql(
  `query Requests { viewer { id followRequests(first: 50) { nodes { ...Author bio } } } }`,
  [authorFragment],
);

/** Who asks to follow the member. */
export default function Requests() {
  const t = useTranslations("requests");
  const [{ data, fetching }, again] = useQuery({ query: REQUESTS, requestPolicy: "cache-and-network" });
  const act = useMemberAction();
  const members = data?.viewer?.followRequests.nodes ?? [];

  async function decide(action: MemberAction, id: string) {
    await act(action, id);
    again({ requestPolicy: "network-only" });
  }

  return (
    <>
      <Title text={t("title")} back />
      {fetching && !data && <Waiting />}
      {data && members.length === 0 && <p className={controls.notice}>{t("empty")}</p>}
      <ul>
        {members.map((member) => (
          <MemberRow key={member.id} member={member}>
            <div className={styles.buttons}>
              <button
                type="button"
                className={controls.primary}
                aria-label={`${t("approve")}: ${member.name}`}
                onClick={() => void decide("approveFollowRequests", member.id)}
              >
                {t("approve")}
              </button>
              <button
                type="button"
                className={controls.button}
                aria-label={`${t("reject")}: ${member.name}`}
                onClick={() => void decide("rejectFollowRequests", member.id)}
              >
                {t("reject")}
              </button>
            </div>
          </MemberRow>
        ))}
      </ul>
    </>
  );
}
