import { useClient } from "urql";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { groupFragment } from "../../parts/groups/fragments";
import { Title } from "../../parts/page/Title";
import { type GroupFields, GroupForm } from "./GroupForm";

const CREATE = graphql(
  `
  mutation CreateGroup($input: CreateGroupInput!) {
    createGroup(input: $input) { group { ...GroupHead } userErrors { code message field } }
  }
`,
  [groupFragment],
);

const EMPTY: GroupFields = { name: "", description: "", kind: "PUBLIC" };

/** Makes a group, and leads to it. */
export default function NewGroup() {
  const t = useTranslations("groups");
  const client = useClient();
  const [, go] = useLocation();
  return (
    <>
      <Title text={t("new")} back />
      <GroupForm
        subject="new group"
        first={EMPTY}
        button={t("create")}
        send={async (fields, key) => {
          const input = { ...fields, idempotencyKey: key };
          const { data, error } = await client.mutation(CREATE, { input });
          const payload = data?.createGroup;
          if (payload?.group) go(`/groups/${payload.group.id}`, { replace: true });
          return payload?.userErrors ?? error ?? [];
        }}
      />
    </>
  );
}
