"""onnxruntime without its telemetry.

Since version 1.29 its wheels keep an identifier of the device, and send names of processes and models to Microsoft,
unless this variable is set before the first import. A value that the user has set stays.
"""

from __future__ import annotations

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

__all__ = ["onnxruntime"]
