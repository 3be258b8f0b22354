"""Figures as files and as parts of a page."""

from __future__ import annotations

import hashlib
import html
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from paretopick._files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMATS = (".png", ".pdf", ".svg")
"""What pictures can be written as."""


def save(figure: Figure, folder: str | os.PathLike[str], name: str) -> list[Path]:
    """Writes a figure as PNG and PDF, whole or not at all, the same bytes for the same figure; returns the files."""
    place, pdf = Path(folder), io.BytesIO()
    place.mkdir(parents=True, exist_ok=True)
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    return [save_png(figure, place / f"{name}.png"), write_whole(place / f"{name}.pdf", pdf.getvalue())]


def save_picture(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Writes a figure as what its file is called, one of ``FORMATS``, whole or not at all; returns the file."""
    place = Path(path)
    if place.suffix.lower() == ".png":
        return save_png(figure, place)
    drawn = io.BytesIO()
    form = place.suffix.lower().removeprefix(".")
    figure.savefig(drawn, format=form, metadata={"CreationDate" if form == "pdf" else "Date": None})
    return write_whole(place, drawn.getvalue())


def save_png(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Writes a figure as a small PNG; returns the file."""
    return write_whole(Path(path), to_png(figure))


def to_png(figure: Figure) -> bytes:
    """Returns a figure as PNG with 256 colours, which nobody sees and which makes it a third of the size.

    They are chosen for the worst pixel: what Pillow does of itself turns a few orange points reddish where there is much purple.
    """
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    with Image.open(drawn) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(small, format="png", optimize=True)
    return small.getvalue()


def to_svg(figure: Figure, *, title: str = "", salt: str = "") -> str:
    """Returns a figure as an ``<svg>`` element to be put into a page, the same text for the same figure.

    Letters are outlines, so that no font is needed. The element has a ``viewBox`` and no size: it fills the width that the page
    gives it. Nothing in it points outside, and its ids are its own, so that figures do not disturb each other.

    Args:
        figure: to be drawn.
        title: what is to be seen, for those who cannot.
        salt: what makes the ids of two equal figures on a page differ.
    """
    import matplotlib

    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "paretopick", "svg.fonttype": "path", "svg.image_inline": True}):
        figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = drawn.getvalue()
    text = re.sub(r"<!--.*?-->\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>\s*", "", text, count=1, flags=re.DOTALL)  # of the whole page
    text = _with_own_ids(text, hashlib.sha256(f"{salt}\n{text}".encode()).hexdigest()[:10])
    (box,) = re.findall(r'viewBox="[^"]*"', text[: text.index(">")])
    said = html.escape(title)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box} role="img"'
    label = f' aria-label="{said}"' if title else ""
    style = ' style="stroke-linejoin: round; stroke-linecap: butt"'
    child = f"<title>{said}</title>" if title else ""
    return f"{head}{label}{style}>{child}{text[text.index('>') + 1 :].strip()}"


def _with_own_ids(svg: str, prefix: str) -> str:
    """Keeps the ids that something refers to, and puts a prefix before them."""
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg))
    names = {name for pair in used for name in pair if name}
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="p{prefix}-{found[1]}"' if found[1] in names else "", svg)
    svg = re.sub(r'href="#', f'href="#p{prefix}-', svg)
    return re.sub(r"url\(#", f"url(#p{prefix}-", svg)
