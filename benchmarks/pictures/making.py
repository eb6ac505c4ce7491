"""Files to be processed, and what processing makes of them."""

from __future__ import annotations

import contextlib
import io
import tempfile
from typing import Any

from PIL import Image

from resolvers.imaging.processing import Made, make
from store.settings import Settings


def noise(size: tuple[int, int]) -> Image.Image:
    return Image.effect_noise((size[0] // 8, size[1] // 8), 60).convert("RGB").resize(size)


def encoded(picture: Image.Image, form: str, **options: Any) -> bytes:
    """Return a picture as a file."""
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


async def made_of(data: bytes) -> tuple[Made, list[bytes]]:
    """Return what processing makes of a file, and its forms."""
    with contextlib.ExitStack() as opened:
        source, *targets = [opened.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        source.write(data)
        source.seek(0)
        made = await make(Settings(), source, targets, square=False)
        forms = []
        for file in targets:
            file.seek(0)
            forms.append(file.read())
        return made, forms
