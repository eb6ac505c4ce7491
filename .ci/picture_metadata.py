"""Looks with ExifTool at what the stored forms of pictures hold of the uploaded files.

`python .ci/picture_metadata.py 200` processes so many files, hostile and ordinary ones, and looks for anything of the
original but pixels and colour profile. Tags planted into a stored form show first that such a look finds them. It exits
with 1 if a form has any, or if a plant is overlooked.
"""

import argparse
import asyncio
import contextlib
import io
import itertools
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms, PngImagePlugin

from resolvers.imaging.processing import MadeForms, make
from store.settings import Settings

SECRET = "words of the original"  # noqa: S105  what no stored form may have
# What ExifTool says of any WebP file. The profile's own tags are those of a group that begins with ICC.
ALLOWED = {"SourceFile", "ExifTool", "System", "File", "RIFF", "Composite"}
# Tags that are planted into a stored form, to see that they are found, by what ExifTool calls their group.
PLANTED = {
    "EXIF": ("-EXIF:Artist=somebody", "-EXIF:GPSLatitude=52.5", "-EXIF:GPSLatitudeRef=N"),
    "XMP": ("-XMP-dc:Description=something",),
}


def noise(size: tuple[int, int]) -> Image.Image:
    return Image.effect_noise((size[0] // 8, size[1] // 8), 60).convert("RGB").resize(size)


def encoded(picture: Image.Image, form: str, **options: Any) -> bytes:
    """Return a picture as a file."""
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


async def made_of(data: bytes) -> tuple[MadeForms, list[bytes]]:
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
    return subprocess.run(["exiftool", *arguments], capture_output=True, check=True).stdout


def _is_foreign(tag: str) -> bool:
    group = tag.partition(":")[0]
    return group not in ALLOWED and not group.startswith("ICC")


def main() -> int:
    """Look at the stored forms of some files, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=int, help="files whose forms are looked at")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        missed = [f"overlooked: {plant}" for plant in overlooked(Path(folder))]
        foreign = kept(asked.files, Path(folder))
    print(*missed, *foreign, sep="\n", end="\n" if missed or foreign else "")
    return 1 if missed or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
