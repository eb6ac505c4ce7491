"""The mutations of reports and of moderators, which `schema.mutations.mutation` takes up."""

import strawberry

from resolvers import moderation
from schema.mutations.declaring import mutation
from schema.types.descriptions import limit
from schema.types.moderation import (
    HideGroupInput,
    ReportInput,
    ResolveReportInput,
    SetRoleInput,
    SuspendUserInput,
)


@strawberry.type
class ModerationMutations:
    report = mutation(
        moderation.report,
        ReportInput,
        "Reports something to the moderators. A member has at most one open report of a subject: another "
        f"is refused with CONFLICT. A member files at most {limit('reports_per_hour')} reports in an hour.",
    )
    resolve_report = mutation(
        moderation.resolve_report,
        ResolveReportInput,
        "Resolves a report, with all open ones of the same subject. Each reporter is notified, and is not "
        "told what was decided. A resolved report is refused with CONFLICT. Moderators only. Nobody resolves a report "
        "of themselves, or acts on a member of an equal or higher role.",
    )
    suspend_user = mutation(
        moderation.suspend_user,
        SuspendUserInput,
        "Suspends a member of a lower role and ends their sessions, or ends a suspension. Moderators only.",
    )
    set_role = mutation(
        moderation.set_role, SetRoleInput, "Gives a role to a member of a lower one. Administrators only."
    )
    hide_group = mutation(
        moderation.hide_group,
        HideGroupInput,
        "Hides a group: only moderators of the site see what is in it, and only they and its members see "
        "that it exists. Moderators only.",
    )
    unhide_group = mutation(moderation.unhide_group, HideGroupInput, "Shows a hidden group again. Moderators only.")
