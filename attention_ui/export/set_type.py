"""A part of a file of worksheets, set by typst: JSON comes in, a PDF goes out. `typeset.py` runs it once for each part.

What typst has computed stays in memory until its process ends: two hundred sheets needed 2 GB.
"""

import sys
from pathlib import Path

import typst

if __name__ == "__main__":
    template, data = Path(__file__).with_name("sheets.typ"), sys.stdin.buffer.read().decode()
    # Marks for whoever hears a PDF would make it ten times as large; the HTML of a single sheet has them.
    sys.stdout.buffer.write(typst.compile(template, sys_inputs={"data": data}, format="pdf", pdf_tags=False))
