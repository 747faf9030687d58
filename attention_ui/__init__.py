"""What the pages share: the frame, the controls, the charts, the furniture of a lesson."""

import os

# Before NumPy is imported, which reads them then: more threads for small matrices only fight each other, and the pages.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(name, "1")
