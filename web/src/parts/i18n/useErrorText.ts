import type { CombinedError } from "@urql/core";
import { useTranslations } from "use-intl";
import type { UserError } from "../../data/graphql/errors";

/** Returns a function that says in the member's language why something was refused or failed. */
export function useErrorText(): (error: UserError | CombinedError) => string {
  const t = useTranslations("error");
  return (error) => {
    if ("code" in error) {
      // INVALID breaks one of many rules, and only the server's message names it.
      if (error.code === "WRONG_CREDENTIALS" && error.field) {
        return t(error.field[0] === "code" ? "WRONG_CODE" : "WRONG_PASSWORD");
      }
      return t.has(error.code as "BLANK") ? t(error.code as "BLANK") : error.message;
    }
    const extensions = error.graphQLErrors[0]?.extensions;
    if (extensions?.code === "RATE_LIMITED") {
      return t("RATE_LIMITED", { seconds: Math.ceil(Number(extensions.retryAfter ?? 0)) });
    }
    return error.networkError ? t("network") : t("unknown");
  };
}
