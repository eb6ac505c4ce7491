"""Looks with ExifTool at what the stored forms of pictures hold of the uploaded files."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageCms, PngImagePlugin

from benchmarks.pictures.making import encoded, made_of, noise

SECRET = "words of the original"  # noqa: S105  what no stored form may have
# What ExifTool says of any WebP file. The profile's own tags are those of a group that begins with ICC.
ALLOWED = {"SourceFile", "ExifTool", "System", "File", "RIFF", "Composite"}
# Tags that are planted into a stored form, to see that they are found, by what ExifTool calls their group.
PLANTED = {
    "EXIF": ("-EXIF:Artist=somebody", "-EXIF:GPSLatitude=52.5", "-EXIF:GPSLatitudeRef=N"),
    "XMP": ("-XMP-dc:Description=something",),
}


def files() -> Iterator[bytes]:
    """Yield files with much that must not be kept: comments, EXIF with a place and a thumbnail, XMP, text, trailers."""
    dice, srgb = random.Random(1), ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()  # noqa: S311
    xmp = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:li>{SECRET}</rdf:li></x:xmpmeta>".encode()
    for number in itertools.count():
        size = dice.randrange(1, 900), dice.randrange(1, 900)
        picture = noise((max(8, size[0]), max(8, size[1]))).resize(size)
        exif = Image.Exif()
        exif[0x010E] = exif[0x013B] = exif[0x8298] = f"{SECRET} {number}"
        exif[0x0112] = dice.randrange(1, 9)
        exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.5)  # latitude
        kept = {"icc_profile": dice.choice([srgb, None, SECRET.encode() * 9])}
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", SECRET)
        text.add_itxt("XML:com.adobe.xmp", xmp.decode())
        trailer = dice.choice([b"", b"PK\x03\x04" + SECRET.encode(), b"<script>" + SECRET.encode()])
        mode = dice.choice(["RGB", "L", "CMYK"])
        yield encoded(picture.convert(mode), "JPEG", exif=exif, xmp=xmp, comment=SECRET, **kept) + trailer
        mode = dice.choice(["RGB", "RGBA", "P", "L", "LA", "1", "I;16"])
        yield (
            encoded(picture.convert("L" if mode == "I;16" else mode), "PNG", exif=exif, pnginfo=text, **kept) + trailer
        )
        yield encoded(picture, "WEBP", exif=exif, xmp=xmp, lossless=bool(number % 2), **kept)
        yield encoded(picture, "GIF", comment=SECRET, save_all=True, append_images=[picture.rotate(90)]) + trailer


def kept(count: int, folder: Path) -> list[str]:
    """Return what ExifTool finds in the stored forms of so many files beside pixels and colour profile."""
    for number, data in enumerate(itertools.islice(files(), count)):
        for name, form in zip(("large", "small"), _forms(data, number), strict=True):
            (folder / f"{number}-{name}.webp").write_bytes(form)
    found = _findings(folder)
    print(f"{2 * count} stored forms of {count} files: {len(found)} findings")
    return found


def overlooked(folder: Path) -> list[str]:
    """Return which tags and words the look does not find, although they were planted into a stored form."""
    form = _forms(next(files()), 0)[0]
    missed = []
    for group, tags in PLANTED.items():
        path = folder / f"{group}.webp"
        path.write_bytes(form)
        _exiftool("-overwrite_original", *tags, str(path))
        if not any(f": {group}:" in finding for finding in _findings(folder)):
            missed.append(group)
        path.unlink()
    (folder / "words.webp").write_bytes(form + SECRET.encode())
    if not any(finding.endswith(SECRET) for finding in _findings(folder)):
        missed.append(SECRET)
    (folder / "words.webp").unlink()
    print(f"{len(PLANTED) + 1} plants in a stored form: {len(missed)} overlooked")
    return missed


def _forms(data: bytes, number: int) -> list[bytes]:
    made, forms = asyncio.run(made_of(data))
    if made.error:
        raise SystemExit(f"file {number}: {made.error}")
    return forms


def _findings(folder: Path) -> list[str]:
    said = json.loads(_exiftool("-json", "-G0", "-a", "-u", "-ee", "-r", str(folder)))
    found = [f"{one['SourceFile']}: {tag}" for one in said for tag in one if _is_foreign(tag)]
    return found + [f"{path}: {SECRET}" for path in folder.iterdir() if SECRET.encode() in path.read_bytes()]


def _exiftool(*arguments: str) -> bytes:
    return subprocess.run(["exiftool", *arguments], capture_output=True, check=True).stdout  # noqa: S603, S607


def _is_foreign(tag: str) -> bool:
    group = tag.partition(":")[0]
    return group not in ALLOWED and not group.startswith("ICC")
