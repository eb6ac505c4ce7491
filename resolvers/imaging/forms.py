"""Decodes a file strictly, and makes the stored forms of its picture. Runs only in the child process.

Nothing of the file is kept but its pixels and its colour profile: the pixels are pasted into a new image.
"""

import contextlib
from collections.abc import Sequence
from typing import IO

import blurhash  # type: ignore[import-untyped]
from PIL import GifImagePlugin, Image, ImageOps, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

# Only these are imported, and so no other decoder is there.
DECODERS = (
    JpegImagePlugin.JpegImageFile,
    PngImagePlugin.PngImageFile,
    WebPImagePlugin.WebPImageFile,
    GifImagePlugin.GifImageFile,
)
FORMATS = [str(decoder.format) for decoder in DECODERS]
MOST_SIDE = 30_000  # pixels; a longer side is no picture that could be shown
LONGEST = (2048, 640)  # pixels of the longer side of the large form, and of the small one
SQUARE = (400, 96)  # pixels of the sides of square forms
QUALITY = 82  # of WebP, 0 to 100
EFFORT = 4  # of WebP's encoder, 0 to 6
STRIP_PIXELS = 4_000_000  # converted at a time, so that a large picture is not held twice
PROFILE_BYTES = 128 << 10  # of a colour profile; a larger one is dropped
BLURHASH_SIDE = 32  # pixels that the blurhash is computed from, each way
BLURHASH_PARTS = 4  # of the blurhash's longer side; 3 on the other

_ORIENTATION = 0x0112  # the EXIF tag
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIGNATURE = slice(36, 40)  # of an ICC profile: "acsp" (ICC.1:2022 §7.2)
_COLOUR_SPACE = slice(16, 20)

Image.MAX_IMAGE_PIXELS = None  # `_check_size` decides


class Unacceptable(Exception):
    """The file is no picture that is accepted. `code` is a UserErrorCode."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def make(source: IO[bytes], targets: Sequence[IO[bytes]], *, square: bool, most_pixels: int) -> dict[str, object]:
    """Write the forms of a file's picture; returns width and height of the first, and the blurhash.

    Raises Unacceptable, and MemoryError.
    """
    try:
        with Image.open(source, formats=FORMATS) as picture:
            pixels, profile = _pixels(picture, square=square, most_pixels=most_pixels)
    except Unacceptable:
        raise
    except (OSError, SyntaxError, ValueError, KeyError, IndexError, TypeError, EOFError, ArithmeticError) as error:
        raise Unacceptable("INVALID") from error  # what Pillow's decoders raise for files that are malformed
    made: dict[str, object] = {}
    for target, longest in zip(targets, SQUARE if square else LONGEST, strict=True):
        form = pixels.copy()
        form.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=None)
        form.save(target, "WEBP", quality=QUALITY, method=EFFORT, icc_profile=profile, exif=b"", xmp=b"")
        made = made or {"width": form.width, "height": form.height}
        pixels = form  # the next form is smaller
    return made | {"blurhash": _blurhash(pixels)}


def _pixels(picture: Image.Image, *, square: bool, most_pixels: int) -> tuple[Image.Image, bytes | None]:
    """Return the pixels as they are to be seen, no larger than needed, in a new image; and the colour profile."""
    _check_size(picture, most_pixels)
    longest = max(LONGEST)
    profile, turn = _profile(picture), _turn(picture)
    if picture.format in {"JPEG", "MPO"}:
        picture.draft(picture.mode, (longest, longest))  # decodes fewer pixels of a large one
    picture.load()
    small = _reduced(picture, longest)
    if turn is not None:
        small = small.transpose(turn)
    if square:
        side = min(small.size)
        small = ImageOps.fit(small, (side, side), Image.Resampling.LANCZOS)
    else:
        small.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=None)
    has_alpha = small.mode == "RGBA" and small.getchannel("A").getextrema() != (255, 255)
    clean = Image.new("RGBA" if has_alpha else "RGB", small.size)
    clean.paste(small if has_alpha else small.convert("RGB"))
    return clean, profile


def _check_size(picture: Image.Image, most_pixels: int) -> None:
    """Raise Unacceptable for too many pixels. The decoder has read only the head of the file so far."""
    width, height = picture.size
    if width < 1 or height < 1:
        raise Unacceptable("INVALID")
    if width * height > most_pixels or max(width, height) > MOST_SIDE:
        raise Unacceptable("TOO_LONG")


def _reduced(picture: Image.Image, longest: int) -> Image.Image:
    """Return the pixels as RGB or RGBA, by a whole factor smaller where both sides stay twice what is needed."""
    factor = max(1, max(picture.size) // (2 * longest))
    factor = min(factor, *picture.size)
    width, height = picture.size
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    made = Image.new(mode, (-(-width // factor), -(-height // factor)))
    rows = max(1, STRIP_PIXELS // width // factor) * factor
    for top in range(0, height, rows):
        strip = _converted(picture.crop((0, top, width, min(height, top + rows))), picture, mode)
        made.paste(strip.reduce(factor) if factor > 1 else strip, (0, top // factor))
    return made


def _converted(strip: Image.Image, whole: Image.Image, mode: str) -> Image.Image:
    if strip.mode.startswith("I"):  # 16 bits of grey: convert() would cut them off at 255
        strip = strip.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if strip.mode == "P" and "transparency" in whole.info:
        strip.info["transparency"] = whole.info["transparency"]
    return strip.convert(mode)


def _turn(picture: Image.Image) -> Image.Transpose | None:
    """Return how the picture has to be turned, as its EXIF orientation says."""
    with contextlib.suppress(Exception):  # EXIF may be any bytes
        return _TURNS.get(picture.getexif().get(_ORIENTATION, 1))
    return None


def _profile(picture: Image.Image) -> bytes | None:
    """Return the colour profile if it describes RGB; others would not fit the stored pixels."""
    profile = picture.info.get("icc_profile")
    if not isinstance(profile, bytes) or len(profile) > PROFILE_BYTES:
        return None
    is_rgb = profile[_SIGNATURE] == b"acsp" and profile[_COLOUR_SPACE] == b"RGB "
    return profile if is_rgb and picture.mode in {"RGB", "RGBA", "P"} else None


def _blurhash(pixels: Image.Image) -> str:
    """Return the blurhash (blurha.sh) of a picture. Transparent pixels count as white."""
    small = pixels.resize((BLURHASH_SIDE, BLURHASH_SIDE), Image.Resampling.BOX)
    if small.mode == "RGBA":
        white = Image.new("RGBA", small.size, "white")
        small = Image.alpha_composite(white, small).convert("RGB")
    wide = pixels.width >= pixels.height
    data = small.tobytes()
    rows = [
        [tuple(data[at : at + 3]) for at in range(3 * BLURHASH_SIDE * y, 3 * BLURHASH_SIDE * (y + 1), 3)]
        for y in range(BLURHASH_SIDE)
    ]
    across, down = (BLURHASH_PARTS, 3) if wide else (3, BLURHASH_PARTS)
    return str(blurhash.encode(rows, components_x=across, components_y=down))
