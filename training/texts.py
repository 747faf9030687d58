"""The novels, read from the Debian packages that ship them; nothing of them enters the repository.

All are in the public domain by age: their authors died between 1817 and 1946.
"""

import gzip
import random
import re
import struct
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

R_LIBRARY, GO_SOURCES = "usr/lib/R/site-library", "usr/share/gocode/src/github.com"
HELD_OUT_EVERY = 100  # one paragraph in so many is kept for naming heads, another one for confirming the names


@dataclass(frozen=True)
class Source:
    """A Debian package, and the file of it that has books."""

    package: str
    file: str
    title: str | None = None  # of a file that is one book


@dataclass(frozen=True)
class Book:
    """A book as its package has it: its paragraphs, cleaned, in their order."""

    title: str
    package: str
    version: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Texts:
    """Paragraphs to learn from, and two sets of paragraphs that training never sees."""

    learned: tuple[str, ...]
    naming: tuple[str, ...]
    confirming: tuple[str, ...]


SOURCES = (
    Source("r-cran-tidytext", f"{R_LIBRARY}/tidytext/extdata/books.rda"),
    Source("r-cran-janeaustenr", f"{R_LIBRARY}/janeaustenr/data/Rdata.rdb"),
    Source(
        "golang-github-klauspost-compress-dev",
        f"{GO_SOURCES}/klauspost/compress/testdata/Mark.Twain-Tom.Sawyer.txt",
        "The Adventures of Tom Sawyer",
    ),
)
AUSTEN = {  # the data set of each novel in its package
    "sensesensibility": "Sense and Sensibility",
    "prideprejudice": "Pride and Prejudice",
    "mansfieldpark": "Mansfield Park",
    "emma": "Emma",
    "northangerabbey": "Northanger Abbey",
    "persuasion": "Persuasion",
}


def read_books(cache: Path) -> list[Book]:
    """All books, each once. Downloads the packages with apt where the cache has none."""
    books = {}
    for source in SOURCES:
        version = fetch(source.package, cache)
        path = cache / source.package / source.file
        found = {source.title: path.read_text("utf-8", "replace").splitlines()} if source.title else r_books(path)
        for title, lines in found.items():
            books.setdefault(title.lower(), Book(title, source.package, version, tuple(paragraphs(lines))))
    return list(books.values())


def fetch(package: str, cache: Path) -> str:
    """Unpacks a Debian package into the cache, without installing it, and gives its version.

    Raises RuntimeError when apt cannot download it.
    """
    folder = cache / package
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["apt-get", "download", package], cwd=cache, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"apt-get cannot download {package} (try apt-get update): {done.stderr.strip()}")
        archive = next(cache.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg", "-x", archive.name, package], cwd=cache, check=True)
    archive = next(cache.glob(f"{package}_*.deb"))
    query = ["dpkg-deb", "--field", archive.name, "Version"]
    return subprocess.run(query, cwd=cache, check=True, capture_output=True, text=True).stdout.strip()


def r_books(path: Path) -> dict[str, list[str]]:
    """The books of an R data file: a table of lines and titles, or one text for each novel."""
    if path.suffix == ".rda":
        lines, titles = string_vectors(gzip.decompress(path.read_bytes()))[:2]
        return {
            title: [line for line, of in zip(lines, titles, strict=True) if of == title]
            for title in dict.fromkeys(titles)
        }
    novels = [vectors[0] for data in compressed_blocks(path.read_bytes()) if (vectors := string_vectors(data))]
    return {title_of(lines): lines for lines in novels}


def title_of(lines: list[str]) -> str:
    """Which of Jane Austen's novels this is: its first line that has letters, as a title is written."""
    first = re.sub("[^a-z]", "", next(line for line in lines if line.strip()).lower().replace(" and ", ""))
    return next(title for key, title in AUSTEN.items() if first.startswith(key))


def compressed_blocks(data: bytes) -> Iterator[bytes]:
    """The objects of R's lazy-load format: the length of each (4 bytes), then zlib's stream."""
    while data:
        stream = zlib.decompressobj()
        yield stream.decompress(data[4:])
        data = stream.unused_data


def string_vectors(data: bytes, least: int = 1000) -> list[list[str]]:
    """The character vectors of at least so many strings in R's serialised format (XDR), in their order."""
    vectors, at = [], 0
    while (at := data.find(b"\0\0\0\x10", at)) >= 0:
        (count,) = struct.unpack_from(">i", data, at + 4)
        strings, end = read_strings(data, at + 8, count) if count >= least else (None, at)
        if strings is None:
            at += 1
        else:
            vectors.append(strings)
            at = end
    return vectors


def read_strings(data: bytes, at: int, count: int) -> tuple[list[str] | None, int]:
    """So many strings one after another and where they end, or None where something else stands among them."""
    strings = []
    for _ in range(count):
        if at + 8 > len(data) or data[at + 3] != 9:  # the type of a string
            return None, at
        (length,) = struct.unpack_from(">i", data, at + 4)
        strings.append(data[at + 8 : at + 8 + max(length, 0)].decode("utf-8", "replace"))
        at += 8 + max(length, 0)
    return strings, at


def paragraphs(lines: list[str]) -> Iterator[str]:
    """Paragraphs of running text: no headings, tables, or notes of those who made the electronic text."""
    for block in re.split(r"\n\s*\n", "\n".join(lines).replace("\r", "")):
        text = re.sub(r"\s+", " ", block.replace("_", "")).strip()
        readable = sum(c.isalpha() or c in " ,.'\"“”’-;" for c in text)
        notes = any(note in text.lower() for note in ("gutenberg", "etext", "e-text"))
        if len(text) >= 40 and text.upper() != text and readable >= 0.9 * len(text) and not notes:
            yield text


def divide(books: list[Book]) -> Texts:
    """The paragraphs of all books, those held out drawn with a seed of their own: the same for every model."""
    everything = [paragraph for book in books for paragraph in book.paragraphs]
    order = random.Random("held out").sample(range(len(everything)), len(everything))
    n = len(everything) // HELD_OUT_EVERY
    naming, confirming, learned = (sorted(part) for part in (order[:n], order[n : 2 * n], order[2 * n :]))
    return Texts(*(tuple(everything[i] for i in part) for part in (learned, naming, confirming)))
