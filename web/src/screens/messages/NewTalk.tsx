import { useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useLocation, useParams } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { graphql } from "../../data/graphql/tada";
import { useSession } from "../../data/session/session";
import { dropDraft } from "../../parts/drafts/drafts";
import { useFormDraft } from "../../parts/drafts/useFormDraft";
import { Missing } from "../../parts/page/Missing";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { MemberPicker } from "../../parts/picker/MemberPicker";
import { type Author, authorFragment } from "../../parts/post/fragments";
import { MessageForm } from "./MessageForm";
import styles from "./messages.module.css";
import { useSendMessage } from "./useSendMessage";

const ADDRESSEE = graphql(`query Addressee($login: String!) { user(login: $login) { ...Author } }`, [
  authorFragment,
]);

/** What another screen hands over: those whom the conversation begins with, and the conversation they come from. */
export interface Beginning {
  from: string;
  members: Author[];
}

/** The first message to one member or several. It leads to their conversation, which may have begun before. */
export default function NewTalk() {
  const { login } = useParams<{ login?: string }>();
  const beginning = useHistoryState<Beginning | null>();
  if (login) return <FromProfile login={login} />;
  return <Writing subject={`conversation ${beginning?.from ?? ""}`} first={beginning?.members ?? []} />;
}

function FromProfile({ login }: { login: string }) {
  const [{ data, fetching }] = useQuery({ query: ADDRESSEE, variables: { login } });
  const member = data?.user;
  if (fetching && !member) return <Waiting />;
  if (!member) return <Missing />;
  return <Writing key={member.id} subject={`message to ${member.id}`} first={[member]} />;
}

function Writing({ subject, first }: { subject: string; first: Author[] }) {
  const t = useTranslations("messages");
  const [, go] = useLocation();
  const userId = useSession()?.userId ?? "";
  const { fields, keep, drop } = useFormDraft(`members of ${subject}`, { members: first });
  const { start } = useSendMessage();
  const { members } = fields;
  const [only] = members;
  return (
    <>
      <Title text={only && members.length === 1 ? t("new", { name: only.name }) : t("begin")} back />
      <div className={styles.picker}>
        <MemberPicker label={t("to")} chosen={members} onChange={(chosen) => keep({ members: chosen })} />
      </div>
      <MessageForm
        subject={subject}
        send={async (draft) => {
          if (members.length === 0) return { code: "INVALID", message: t("nobody"), field: null };
          const outcome = await start(
            members.map(({ id }) => id),
            draft,
          );
          if (!("conversationId" in outcome)) return outcome;
          dropDraft(userId, subject);
          drop();
          go(`/messages/${outcome.conversationId}`, { replace: true });
          return null;
        }}
      />
    </>
  );
}
