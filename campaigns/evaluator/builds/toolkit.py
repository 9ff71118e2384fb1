"""Where the programs of the CUDA toolkit lie."""

from __future__ import annotations

import os
import shutil


def toolkit_program(name: str) -> str | None:
    """A program of the CUDA toolkit, from PATH or where the toolkit is said or wont to be."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [None, *(f"{home}/bin" for home in homes if home)]
    return next((found for place in places if (found := shutil.which(name, path=place))), None)
