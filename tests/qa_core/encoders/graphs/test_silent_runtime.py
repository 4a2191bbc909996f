"""onnxruntime keeps no identifier and no events, which it would send to its maker."""

import os
import subprocess
import sys
from pathlib import Path

from qa_bot.home.starter import TRANSFORMER

OPEN = """
import sys
from pathlib import Path
from qa_core.encoders.transformer_encoder import open_graph
open_graph(Path(sys.argv[1]), threads=1)
"""


def test_an_open_graph_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    graph = str(TRANSFORMER / "onnx" / "model.onnx")
    subprocess.run([sys.executable, "-c", OPEN, graph], env=environment, check=True, timeout=120)
    assert [*tmp_path.rglob("*")] == []
