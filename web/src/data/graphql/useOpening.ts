import type { CombinedError } from "@urql/core";
import { useClient } from "urql";
import { deviceToken, keepDeviceToken, keepSession } from "../session/session";
import type { UserError } from "./errors";
import { graphql, type VariablesOf } from "./tada";

const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) {
      accessToken refreshToken deviceToken expiresAt
      viewer { id user { id login } }
      userErrors { code message field }
    }
  }
`);

const SIGN_UP = graphql(`
  mutation SignUp($input: SignUpInput!) {
    signUp(input: $input) {
      accessToken refreshToken deviceToken expiresAt
      viewer { id user { id login } }
      userErrors { code message field }
    }
  }
`);

const CHANGE_PASSWORD = graphql(`
  mutation ChangePassword($input: ChangePasswordInput!) {
    changePassword(input: $input) {
      accessToken refreshToken deviceToken expiresAt
      viewer { id user { id login } }
      userErrors { code message field }
    }
  }
`);

interface Payload {
  accessToken: string | null;
  refreshToken: string | null;
  deviceToken: string | null;
  expiresAt: string | null;
  viewer: { user: { id: string; login: string } } | null;
  userErrors: UserError[];
}

/** What became of a log-in or sign-up: the session is open, or these are the reasons why not. */
export interface Outcome {
  refused: UserError[];
  failed?: CombinedError;
}

/** Returns functions that open a session, or change its tokens, and keep it. */
export function useOpening() {
  const client = useClient();
  return {
    logIn: async (input: Omit<VariablesOf<typeof LOG_IN>["input"], "deviceToken">): Promise<Outcome> => {
      const result = await client.mutation(LOG_IN, { input: { ...input, deviceToken: deviceToken() } });
      return keep(result.data?.logIn, result.error);
    },
    signUp: async (input: VariablesOf<typeof SIGN_UP>["input"]): Promise<Outcome> => {
      const result = await client.mutation(SIGN_UP, { input });
      return keep(result.data?.signUp, result.error);
    },
    changePassword: async (input: VariablesOf<typeof CHANGE_PASSWORD>["input"]): Promise<Outcome> => {
      const result = await client.mutation(CHANGE_PASSWORD, { input });
      return keep(result.data?.changePassword, result.error);
    },
  };
}

function keep(payload: Payload | null | undefined, failed: CombinedError | undefined): Outcome {
  if (!payload) return { refused: [], failed };
  const { accessToken, refreshToken, expiresAt, viewer, userErrors } = payload;
  if (accessToken && refreshToken && expiresAt && viewer) {
    if (payload.deviceToken) keepDeviceToken(payload.deviceToken);
    keepSession({ userId: viewer.user.id, login: viewer.user.login, accessToken, refreshToken, expiresAt });
  }
  return { refused: userErrors };
}
