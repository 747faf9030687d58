"""What the package needs stands in the files of requirements, once."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Reads them when a wheel is built."""

    def update(self, metadata: dict) -> None:
        """Those of the app; `attention-lab[classes]` needs the client of PostgreSQL, too."""
        metadata["dependencies"] = self.listed("requirements.txt")
        metadata["optional-dependencies"] = {"classes": self.listed("requirements-classes.txt")}

    def listed(self, name: str) -> list[str]:
        """The lines of a file without their reasons."""
        lines = (Path(self.root) / name).read_text(encoding="utf-8").splitlines()
        return [line for text in lines if (line := text.partition("#")[0].strip())]
