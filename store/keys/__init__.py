"""Builds the names of all keys in Redis. No other code builds a key.

The text below each declaration, or the docstring of a function, documents a key: its type, its content and its bound.
The hash tag, such as `{209}`, is the partition of the id in the key. So one script can change all that a member owns.
"""

from store.keys.arguments import *  # noqa: F403  one name space
from store.keys.groups import *  # noqa: F403
from store.keys.members import *  # noqa: F403
from store.keys.messaging import *  # noqa: F403
from store.keys.moderation import *  # noqa: F403
from store.keys.pictures import *  # noqa: F403
from store.keys.posts import *  # noqa: F403
from store.keys.site import *  # noqa: F403
