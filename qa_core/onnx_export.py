"""A transformer's weights as an ONNX graph: the one door of `transformers`, imported only when a graph is made."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NEEDED = ("transformers", "onnx")
_OPSET = 17


def export_onnx(weights: Path, out: Path) -> None:
    """Writes the graph `(input_ids, attention_mask) -> last_hidden_state` with free batch and length to `out`.

    `weights` is the folder of `config.json` and `model.safetensors`; pickled weights are refused. Raises
    ModuleNotFoundError where the extra `minilm` is not installed, ValueError where the weights do not fit.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"Expected {' and '.join(_NEEDED)} to convert the encoder in {weights}, but {' and '.join(missing)} is not"
            " installed; run: pip install 'qa-bot[minilm]'"
        )
    import torch

    model = load_model(weights)

    class Hidden(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)[0]

    ids = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 3]])
    axes = {0: "batch", 1: "length"}
    names = ["input_ids", "attention_mask"]
    with _quiet():
        torch.onnx.export(
            Hidden().eval(),
            (ids, torch.ones_like(ids)),
            str(out),
            dynamo=False,
            input_names=names,
            output_names=["last_hidden_state"],
            dynamic_axes=dict.fromkeys([*names, "last_hidden_state"], axes),
            opset_version=_OPSET,
        )


def load_model(weights: Path, *, attention: str = "eager") -> Any:
    """The transformer in float32, whose weights have to be there as safetensors and to fit; a ValueError says if not.

    `attention` names its kernel: the tracer cannot follow the fused ones.
    """
    with _quiet():
        from transformers import AutoModel

        try:
            model, report = AutoModel.from_pretrained(
                str(weights),
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                attn_implementation=attention,
                output_loading_info=True,
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise ValueError(f"Expected weights that fit {weights / 'config.json'}, but got: {error}") from error
    absent = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    if absent:
        raise ValueError(
            f"Expected the weights of a {model.config.model_type} in {weights}, but {len(absent)} tensors are missing"
            f" (first {absent[0]}); the checkpoint belongs to another architecture."
        )
    return model.float()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hides progress bars, the tracer's warnings about shapes that are constant for these models, and the report of
    weights that are not there: of those that matter we tell ourselves."""
    reports = logging.getLogger("transformers.modeling_utils")
    level = reports.level
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        reports.setLevel(logging.ERROR)
        try:
            yield
        finally:
            reports.setLevel(level)
