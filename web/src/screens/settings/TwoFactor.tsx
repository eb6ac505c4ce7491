import { useState } from "react";
import { useClient, useQuery } from "urql";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";
import { graphql } from "../../data/graphql/tada";
import controls from "../../parts/ui/controls.module.css";
import { Field } from "../../parts/ui/Field";
import { AccountForm } from "./AccountForm";
import { PasswordField } from "./PasswordField";
import { QrCode } from "./QrCode";
import styles from "./settings.module.css";

const STATE = graphql(`query TwoFactor { viewer { id isTwoFactorEnabled recoveryCodesLeft } }`);

const ENABLE = graphql(`
  mutation EnableTwoFactor($password: String!) {
    enableTwoFactor(input: { password: $password }) { secret uri userErrors { code message field } }
  }
`);

const CONFIRM = graphql(`
  mutation ConfirmTwoFactor($code: String!) {
    confirmTwoFactor(input: { code: $code }) {
      recoveryCodes
      viewer { id isTwoFactorEnabled recoveryCodesLeft }
      userErrors { code message field }
    }
  }
`);

const DISABLE = graphql(`
  mutation DisableTwoFactor($password: String!, $code: String!) {
    disableTwoFactor(input: { password: $password, code: $code }) {
      viewer { id isTwoFactorEnabled recoveryCodesLeft }
      userErrors { code message field }
    }
  }
`);

interface Secret {
  secret: string;
  uri: string;
}

/** The second factor: a code of an app beside the password. */
export function TwoFactor() {
  const t = useTranslations("account");
  const [{ data }] = useQuery({ query: STATE, requestPolicy: "cache-and-network" });
  const [secret, setSecret] = useState<Secret | null>(null);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const viewer = data?.viewer;
  if (!viewer) return null;
  return (
    <section className={controls.panel} aria-labelledby="second-factor">
      <h2 id="second-factor">{t("secondFactor")}</h2>
      <p className={controls.hint}>
        {viewer.isTwoFactorEnabled ? t("isOn", { count: viewer.recoveryCodesLeft }) : t("secondFactorHint")}
      </p>
      {codes.length > 0 && <RecoveryCodes codes={codes} onDone={() => setCodes([])} />}
      {viewer.isTwoFactorEnabled ? (
        codes.length === 0 && <TurnOff />
      ) : secret ? (
        <Confirmation
          secret={secret}
          onDone={(received) => {
            setSecret(null);
            setCodes(received);
          }}
        />
      ) : (
        <TurnOn onSecret={setSecret} />
      )}
    </section>
  );
}

function TurnOn({ onSecret }: { onSecret: (secret: Secret) => void }) {
  const t = useTranslations("account");
  const client = useClient();
  return (
    <AccountForm
      button={t("turnOn")}
      send={async ({ password = "" }) => {
        const { data, error } = await client.mutation(ENABLE, { password });
        const payload = data?.enableTwoFactor;
        if (payload?.secret && payload.uri) onSecret({ secret: payload.secret, uri: payload.uri });
        return { refused: payload?.userErrors ?? [], failed: error };
      }}
    >
      {(refused) => <PasswordField refused={refused} />}
    </AccountForm>
  );
}

interface ConfirmationProps {
  secret: Secret;
  onDone: (codes: readonly string[]) => void;
}

/** Hands the secret to an app, and asks for a code of it. */
function Confirmation({ secret: { secret, uri }, onDone }: ConfirmationProps) {
  const t = useTranslations("account");
  const client = useClient();
  return (
    <>
      <p>{t("scan")}</p>
      <QrCode text={uri} label={t("qrCode")} />
      <p>
        <a href={uri}>{t("openApp")}</a>
      </p>
      <p>
        {t("typeSecret")} <code className={styles.secret}>{secret}</code>
      </p>
      <AccountForm
        button={t("confirm")}
        send={async ({ code = "" }) => {
          const { data, error } = await client.mutation(CONFIRM, { code });
          const payload = data?.confirmTwoFactor;
          if (payload?.recoveryCodes) onDone(payload.recoveryCodes);
          return { refused: payload?.userErrors ?? [], failed: error };
        }}
      >
        {(refused) => <CodeField label={t("sixDigits")} refused={refused} isNumeric />}
      </AccountForm>
    </>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const t = useTranslations("account");
  return (
    <div className={styles.codes} role="status">
      <p>
        <b>{t("recoveryCodes")}</b>
      </p>
      <p>{t("recoveryHint")}</p>
      <ol>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className={controls.row}>
        <button
          type="button"
          className={controls.button}
          onClick={() => void navigator.clipboard?.writeText(codes.join("\n"))}
        >
          {t("copy")}
        </button>
        <button type="button" className={controls.primary} onClick={onDone}>
          {t("kept")}
        </button>
      </div>
    </div>
  );
}

function TurnOff() {
  const t = useTranslations("account");
  const session = useTranslations("session");
  const client = useClient();
  return (
    <AccountForm
      button={t("turnOff")}
      isDanger
      send={async ({ password = "", code = "" }) => {
        const { data, error } = await client.mutation(DISABLE, { password, code });
        return { refused: data?.disableTwoFactor?.userErrors ?? [], failed: error };
      }}
    >
      {(refused) => (
        <>
          <PasswordField refused={refused} />
          <CodeField label={session("code")} hint={session("codeHint")} refused={refused} />
        </>
      )}
    </AccountForm>
  );
}

interface CodeFieldProps {
  label: string;
  hint?: string;
  isNumeric?: boolean;
  refused: UserError[];
}

function CodeField({ isNumeric, ...rest }: CodeFieldProps) {
  return (
    <Field
      name="code"
      autoComplete="one-time-code"
      inputMode={isNumeric ? "numeric" : undefined}
      autoCapitalize="none"
      spellCheck={false}
      required
      {...rest}
    />
  );
}
