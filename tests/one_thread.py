"""A plugin of pytest, which loads it before those of packages: one of them imports NumPy, and it is too late then."""

import attention_ui  # noqa: F401  says how many threads NumPy has
