"""What becomes of files, hostile and ordinary ones: nothing is kept but pixels and colour profile."""

import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from PIL import Image, ImageCms, PngImagePlugin

from resolvers.imaging.processing import MadeForms, make
from resolvers.imaging.structure import MOST_SCANS
from store.settings import Settings
from tests.support.costly_pictures import COSTLY, scans
from tests.support.uploads import drawn

RED, BLUE = (255, 0, 0), (0, 0, 255)
SECRET_TEXT = b"hidden words of the original"
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A million pixels are accepted."""
    return Settings(data_dir=tmp_path, max_image_pixels=1_000_000)


async def made_of(
    settings: Settings, folder: Path, data: bytes, *, square: bool = False
) -> tuple[MadeForms, list[Image.Image]]:
    """Return what the child process reports of a file, and the large and the small form."""
    paths = [folder / name for name in ("source", "large", "small")]
    paths[0].write_bytes(data)
    files: list[IO[bytes]] = [path.open("w+b" if path != paths[0] else "rb") for path in paths]
    made = await make(settings, files[0], files[1:], square=square)
    for file in files:
        file.close()
    forms: list[Image.Image] = (
        [Image.open(io.BytesIO(path.read_bytes())) for path in paths[1:]] if not made.error else []
    )
    return made, forms


def is_near(pixel: object, colour: tuple[int, int, int]) -> bool:
    """Return whether a pixel has about a colour."""
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 60 for one, other in zip(pixel, colour, strict=False))


def png(size: tuple[int, int], *, data: bytes = b"", chunks: bytes = b"") -> bytes:
    """Return a PNG file whose head gives a size, whatever its data."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunks + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def animated(form: str) -> bytes:
    """Return an animated file whose first frame is red and blue, and whose others are green."""
    frames = [Image.new("RGB", (64, 48), "green") for _ in range(3)]
    file = io.BytesIO()
    Image.open(io.BytesIO(drawn("PNG"))).save(file, form, save_all=True, append_images=frames)
    return file.getvalue()


def sixteen_bits() -> bytes:
    """Return a PNG of 16 bits, half grey."""
    file = io.BytesIO()
    Image.new("I;16", (64, 48), 0x8000).save(file, "PNG")
    return file.getvalue()


ORDINARY = {
    "jpeg": drawn("JPEG"),
    "progressive": drawn("JPEG", progressive=True),
    "cmyk": drawn("JPEG", mode="CMYK"),
    "png": drawn("PNG"),
    "palette": drawn("PNG", mode="P"),
    "alpha": drawn("PNG", mode="RGBA"),
    "interlaced gif": drawn("GIF"),
    "webp": drawn("WEBP"),
    "lossless webp": drawn("WEBP", lossless=True),
    "animated gif": animated("GIF"),
    "animated webp": animated("WEBP"),
    "animated png": animated("PNG"),
    "polyglot": drawn("JPEG") + b"PK\x03\x04" + SECRET_TEXT + b"<script>alert(1)</script>",
}


@pytest.mark.parametrize("kind", ORDINARY)
async def test_ordinary_files(settings: Settings, tmp_path: Path, kind: str) -> None:
    """Each kind of file becomes two WebP files with its pixels; of an animated one, the first frame."""
    made, forms = await made_of(settings, tmp_path, ORDINARY[kind])
    assert (made.error, made.width, made.height, len(made.blurhash)) == ("", 64, 48, 28)
    for form in forms:
        assert (form.format, form.size, getattr(form, "n_frames", 1)) == ("WEBP", (64, 48), 1)
        assert is_near(form.convert("RGB").getpixel((8, 8)), RED)
        assert is_near(form.convert("RGB").getpixel((56, 40)), BLUE)
    assert SECRET_TEXT not in (tmp_path / "large").read_bytes()


async def test_grey(settings: Settings, tmp_path: Path) -> None:
    """A picture of 16 bits of grey keeps its brightness."""
    _, (large, _) = await made_of(settings, tmp_path, sixteen_bits())
    assert is_near(large.convert("RGB").getpixel((8, 8)), (128, 128, 128))


@pytest.mark.parametrize("orientation", range(1, 9))
async def test_orientations(settings: Settings, tmp_path: Path, orientation: int) -> None:
    """A picture is stored as its EXIF orientation says that it is to be seen, and the EXIF data is dropped."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    made, (large, _) = await made_of(settings, tmp_path, drawn("JPEG", exif=exif))
    is_turned = orientation >= 5
    assert (made.width, made.height) == ((48, 64) if is_turned else (64, 48))
    width, height = large.size
    x = width - 8 if orientation in {2, 3, 6, 7} else 8
    y = height - 8 if orientation in {3, 4, 7, 8} else 8
    pixels = large.convert("RGB")
    assert is_near(pixels.getpixel((x, y)), RED)
    assert is_near(pixels.getpixel((width - x, height - y)), BLUE)
    assert not large.getexif()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"x" * 100, "INVALID"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "INVALID"),
        (drawn("BMP"), "INVALID"),
        (drawn("TIFF"), "INVALID"),
        (drawn("JPEG")[:-200], "INVALID"),
        (drawn("PNG")[:-40], "INVALID"),
        (drawn("GIF")[:40], "INVALID"),
        (drawn("WEBP")[:-40], "INVALID"),
        (png((0, 10)), "INVALID"),
        (png((1_000, 1_001)), "TOO_LONG"),
        (png((60_000, 60_000)), "TOO_LONG"),
        (png((100_000, 1), data=bytes(100_001)), "TOO_LONG"),
        (png((1, 100_000), data=bytes(200_000)), "TOO_LONG"),
        (png((64, 48), data=b"x"), "INVALID"),
    ],
    ids=[
        "no picture",
        "svg",
        "bmp",
        "tiff",
        "cut jpeg",
        "cut png",
        "cut gif",
        "cut webp",
        "no width",
        "too many pixels",
        "bomb",
        "too wide",
        "too high",
        "wrong data",
    ],
)
async def test_refused_files(settings: Settings, tmp_path: Path, data: bytes, error: str) -> None:
    """A file that is no complete picture, or too large a one, is refused before it costs memory or time."""
    made, _ = await made_of(settings, tmp_path, data)
    assert (made.error, made.width) == (error, 0)
    assert [(tmp_path / name).stat().st_size for name in ("large", "small")] == [0, 0]


@pytest.mark.parametrize("kind", COSTLY)
async def test_costly_structures(settings: Settings, tmp_path: Path, kind: str) -> None:
    """A small file that would take seconds to decode is refused by its structure, and takes no time of the decoder."""
    wide = replace(settings, max_image_pixels=50_000_000)
    made, _ = await made_of(wide, tmp_path, COSTLY[kind]())
    assert (made.error, made.width) == ("TOO_LONG", 0)


async def test_scans(settings: Settings, tmp_path: Path) -> None:
    """A progressive JPEG may have as many scans as the limit says, and not one more."""
    usual = drawn("JPEG", progressive=True).count(b"\xff\xda")
    for more, error in ((MOST_SCANS - usual, ""), (MOST_SCANS - usual + 1, "TOO_LONG")):
        made, _ = await made_of(settings, tmp_path, scans(more, (64, 48)))
        assert made.error == error


@pytest.mark.parametrize("form", ["PNG", "GIF"])
async def test_long_animations(settings: Settings, tmp_path: Path, form: str) -> None:
    """An animation of hundreds of frames is accepted."""
    frames = [Image.new("L", (16, 16), shade % 256) for shade in range(450)]
    file = io.BytesIO()
    Image.open(io.BytesIO(drawn("PNG"))).save(file, form, save_all=True, append_images=frames)
    made, _ = await made_of(settings, tmp_path, file.getvalue())
    assert (made.error, made.width) == ("", 64)


async def test_what_is_kept(settings: Settings, tmp_path: Path) -> None:
    """Comments, text, EXIF, XMP and thumbnails are dropped. The colour profile is kept if it describes RGB."""
    exif = Image.Exif()
    exif[0x010E] = SECRET_TEXT.decode()
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", SECRET_TEXT.decode())
    for data in (
        drawn("JPEG", comment=SECRET_TEXT, exif=exif, xmp=b"<x>" + SECRET_TEXT, icc_profile=SRGB),
        drawn("PNG", pnginfo=text, exif=exif, icc_profile=SRGB),
        drawn("WEBP", exif=exif, xmp=b"<x>" + SECRET_TEXT, icc_profile=SRGB),
    ):
        _, forms = await made_of(settings, tmp_path, data)
        for name, form in zip(("large", "small"), forms, strict=True):
            assert SECRET_TEXT not in (tmp_path / name).read_bytes()
            assert set(form.info) <= {"icc_profile", "loop", "background", "timestamp", "duration"}
            assert form.info["icc_profile"] == SRGB
    _, (large, _) = await made_of(settings, tmp_path, drawn("JPEG", icc_profile=SECRET_TEXT * 10))
    assert "icc_profile" not in large.info


async def test_sizes(settings: Settings, tmp_path: Path) -> None:
    """The large form has 2,048 pixels on its longer side, the small one 640. Nothing is enlarged."""
    wide = replace(settings, max_image_pixels=50_000_000)
    for size, large, small in (
        ((5_000, 1_000), (2_048, 410), (640, 128)),
        ((1_000, 4_000), (512, 2_048), (160, 640)),
        ((30_000, 2), (2_048, 1), (640, 1)),
        ((1, 1), (1, 1), (1, 1)),
    ):
        made, forms = await made_of(wide, tmp_path, drawn("PNG", size))
        assert [form.size for form in forms] == [large, small]
        assert (made.width, made.height) == large


async def test_squares(settings: Settings, tmp_path: Path) -> None:
    """An avatar is the middle square of its picture: 400 and 96 pixels, or as many as there are."""
    for size, sides in (((900, 600), (400, 96)), ((120, 500), (120, 96)), ((50, 60), (50, 50))):
        _, forms = await made_of(settings, tmp_path, drawn("PNG", size), square=True)
        assert [form.size for form in forms] == [(side, side) for side in sides]


async def test_transparency(settings: Settings, tmp_path: Path) -> None:
    """Transparent pixels stay transparent, and a picture without any has no alpha channel."""
    clear = Image.new("RGBA", (64, 48), (255, 0, 0, 0))
    clear.paste("blue", (0, 0, 32, 48))
    file = io.BytesIO()
    clear.save(file, "PNG")
    _, (large, _) = await made_of(settings, tmp_path, file.getvalue())
    assert large.mode == "RGBA"
    pixel = large.getpixel((60, 40))
    assert isinstance(pixel, tuple)
    assert pixel[3] == 0
    _, (large, _) = await made_of(settings, tmp_path, ORDINARY["alpha"])
    assert large.mode == "RGB"


async def test_limits_of_the_child(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture that needs more memory or time than is allowed fails, and the child process is gone.

    One that was killed counts as having taken all its time.
    """
    data = drawn("PNG", (1_000, 1_000))
    monkeypatch.setattr("resolvers.imaging.processing.START_BYTES", 24 << 20)
    made, _ = await made_of(settings, tmp_path, data)
    assert made.error == "TOO_LONG"
    monkeypatch.undo()
    killed = MadeForms(error="TOO_LONG", seconds=settings.image_seconds)
    monkeypatch.setattr("resolvers.imaging.processing.WAITING", 0)
    assert (await made_of(settings, tmp_path, data))[0] == killed
    monkeypatch.setattr("resolvers.imaging.processing._PROGRAM", "while True: pass")
    monkeypatch.setattr("resolvers.imaging.processing.WAITING", 0.1)
    assert (await made_of(settings, tmp_path, data))[0] == killed
