"""What files of requirements ask for."""

from packaging.requirements import Requirement


def requirements_in(*files):
    """Those of these files, without reasons and without options; a # inside an address begins none."""
    lines = [line.partition(" #")[0].strip() for file in files for line in file.read_text().splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]
