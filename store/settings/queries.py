"""Settings of what a query may ask for."""

from dataclasses import dataclass

from store.settings.declaring import setting
from store.settings.observing import ObservingSettings


@dataclass(frozen=True, slots=True)
class QuerySettings(ObservingSettings):
    """The limits on queries."""

    max_depth: int = setting(15, "depth of a query", least=1)
    max_query: int = setting(16_384, "characters of a query text", least=1)
    max_tokens: int = setting(1_000, "tokens of a query, and comments likewise", least=1)
    max_operations: int = setting(50, "operations of one query text", least=1)
    max_aliases: int = setting(30, "aliases in a query", least=0)
    max_fields: int = setting(2_000, "fields of a query, those of a fragment counted wherever it is spread", least=1)
    max_cost: int = setting(
        40_000,
        "cost of a query: fields and pages, times the entries asked of the lists above; 1 is some µs of CPU",
        least=1,
    )
    max_anonymous_cost: int = setting(20_000, "the same for an anonymous request, if `MAX_COST` is more", least=1)
    max_values: int = setting(
        6_000, "values in the variables of a request, those in lists and objects counted", least=1
    )
    max_body: int = setting(262_144, "bytes of a request body or websocket message", least=1024)
