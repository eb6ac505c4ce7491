import { useState } from "react";
import { useClient, useQuery } from "urql";
import { useTranslations } from "use-intl";
import { useLocation, useParams } from "wouter";
import { graphql } from "../../data/graphql/tada";
import { groupFragment } from "../../parts/groups/fragments";
import { Missing } from "../../parts/page/Missing";
import { Problem } from "../../parts/page/Problem";
import { Title } from "../../parts/page/Title";
import { Waiting } from "../../parts/page/Waiting";
import { Confirm } from "../../parts/ui/Confirm";
import controls from "../../parts/ui/controls.module.css";
import { GroupForm } from "./GroupForm";

const GROUP = graphql(
  `query GroupToEdit($id: ID!) { node(id: $id) { __typename id ... on Group { ...GroupHead } } }`,
  [groupFragment],
);

const UPDATE = graphql(
  `
  mutation UpdateGroup($input: UpdateGroupInput!) {
    updateGroup(input: $input) { group { ...GroupHead } userErrors { code message field } }
  }
`,
  [groupFragment],
);

const DELETE = graphql(`
  mutation DeleteGroup($id: ID!) {
    deleteGroup(input: { groupId: $id }) { deletedGroupId userErrors { code message field } }
  }
`);

/** What the owners of a group change: its name, its description, its kind, and whether it exists. */
export default function EditGroup() {
  const t = useTranslations("groups");
  const { id } = useParams<{ id: string }>();
  const client = useClient();
  const [, go] = useLocation();
  const [{ data, fetching }] = useQuery({ query: GROUP, variables: { id } });
  const group = data?.node?.__typename === "Group" ? data.node : undefined;
  if (fetching && !group) return <Waiting />;
  if (group?.viewerRole !== "OWNER") return <Missing />;
  const { name, description, kind } = group;
  return (
    <>
      <Title text={t("edit")} back />
      <GroupForm
        subject={`group ${id}`}
        first={{ name, description, kind }}
        button={t("save")}
        send={async (fields) => {
          const { data, error } = await client.mutation(UPDATE, { input: { groupId: id, ...fields } });
          const payload = data?.updateGroup;
          if (payload?.group) go(`/groups/${id}`, { replace: true });
          return payload?.userErrors ?? error ?? [];
        }}
      />
      <Erase id={id} name={name} />
    </>
  );
}

function Erase({ id, name }: { id: string; name: string }) {
  const t = useTranslations("groups");
  const client = useClient();
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<Parameters<typeof Problem>[0]["error"]>();

  async function erase() {
    setAsking(false);
    const { data, error } = await client.mutation(DELETE, { id });
    const failed = error ?? data?.deleteGroup?.userErrors[0];
    setProblem(failed);
    if (!failed) go("/groups", { replace: true });
  }

  return (
    <div className={controls.panel}>
      <Problem error={problem} />
      <div>
        <button type="button" className={controls.danger} onClick={() => setAsking(true)}>
          {t("delete")}
        </button>
      </div>
      {isAsking && (
        <Confirm
          title={t("deleteTitle", { name })}
          hint={t("deleteHint")}
          action={t("delete")}
          onClose={() => setAsking(false)}
          onConfirm={() => void erase()}
        />
      )}
    </div>
  );
}
