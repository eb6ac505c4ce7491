"""The section of reports that the member made."""

from collections.abc import AsyncIterator, Sequence

from resolvers.archives.naming import Written, made
from resolvers.archives.viewing import BATCH, Export
from resolvers.reading import global_ids
from store.exports import lists
from store.moderation import reports as stored
from store.moderation.records import ReportState


async def reports(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the reports that the member made and that are kept. What was decided about others is not in them.

    No index leads from a member to their reports, so all cases are looked through: two round trips for each hundred.
    """
    done: set[int] = set()
    for state in ReportState:
        cursor = "0"
        while True:
            view = export.view()
            ((cursor, found),) = await view.batcher.run([lists.scan_cases_command(state.value, cursor, BATCH)])
            cases = [int(case) for case in found[::2]]
            own = await view.batcher.run([lists.report_in_case_command(case, export.member) for case in cases])
            fresh = [report for report in map(int, filter(None, own)) if report not in done]
            done.update(fresh)
            yield await _read(export, fresh)
            if cursor == "0":
                break


async def _read(export: Export, ids: Sequence[int]) -> list[Written]:
    replies = await export.view().batcher.run([stored.report_command(report) for report in ids])
    return [
        {
            "id": global_ids.of(report),
            "createdAt": made(report.id),
            "subjectId": f"{report.about.kind}_{report.about.id:014x}",
            "reason": report.reason.value,
            "note": report.note,
            "isResolved": report.state is not ReportState.OPEN,
        }
        for report in stored.read_reports(ids, replies)
        if report
    ]
