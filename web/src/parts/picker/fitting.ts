/**
 * Keeps of the members who were found those who fit what is typed now. Until the answer for that has come, the list
 * shows an earlier one, and Enter must not choose somebody else of it.
 */
export function fitting<Member extends { login: string; name: string }>(
  members: readonly Member[],
  foundFor: unknown,
  typed: string,
): readonly Member[] {
  if (foundFor === typed) return members;
  const begun = typed.toLowerCase();
  return members.filter((member) =>
    [member.login, member.name].some((word) => word.toLowerCase().startsWith(begun)),
  );
}
