"""Exports the weights of a transformer as an ONNX graph, with `transformers`."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NEEDED = ("transformers", "onnx")
_OPSET = 17


def export_onnx(weights: Path, out: Path) -> None:
    """Write the graph `(input_ids, attention_mask) -> last_hidden_state` of any batch size and length to `out`.

    `weights` is the folder of `config.json` and `model.safetensors`; pickled weights are rejected. Raises
    ModuleNotFoundError without the extra `minilm`, ValueError if the weights do not fit.
    """
    _check_installed(weights)
    import torch

    model = load_model(weights)

    class Hidden(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)[0]

    _export(Hidden(), model, out, segmented=False, output="last_hidden_state", axes={0: "batch", 1: "length"})


def export_classifier(weights: Path, out: Path) -> None:
    """Write the graph `(input_ids, attention_mask, token_type_ids) -> logits (B, L)` of a classifier of L labels.

    `weights` is a folder with a sequence classifier of any architecture, its head included. The graph has no
    `token_type_ids` if the model does not distinguish segments. Raises the errors of `export_onnx`.
    """
    _check_installed(weights)
    import torch

    model = load_model(weights, head="AutoModelForSequenceClassification")
    segmented = _is_segmented(model)

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            segments = {"token_type_ids": token_type_ids} if segmented else {}
            return self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False, **segments)[0]

    _export(Logits(), model, out, segmented=segmented, output="logits", axes={0: "batch"})


def export_pair_graph(weights: Path, output: Any, out: Path) -> None:
    """Write the graph `(input_ids, attention_mask, token_type_ids) -> logit (B, 1)` of a pair classifier to `out`.

    `weights` is the folder of its transformer, `output` its linear layer over the first state. The graph has no
    `token_type_ids` if the model does not distinguish segments. The last layer of a BERT computes the first state only,
    which saves a seventh of the work with six layers. Raises the errors of `export_onnx`.
    """
    _check_installed(weights)
    import torch

    model = load_model(weights)
    last = _cut_last(model) if model.config.model_type == "bert" else None
    segmented = _is_segmented(model)

    class Logit(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model, self.last, self.output = model, last, output

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            segments = {"token_type_ids": token_type_ids} if segmented else {}
            states = self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False, **segments)[
                0
            ]  # (B, T, D)
            first = states[:, :1] if self.last is None else _first_state(self.last, states, attention_mask)
            return self.output(first[:, 0])

    _export(Logit(), model, out, segmented=segmented, output="logit", axes={0: "batch"})


def _is_segmented(model: Any) -> bool:
    return "token_type_ids" in inspect.signature(model.forward).parameters


def _export(module: Any, model: Any, out: Path, *, segmented: bool, output: str, axes: dict[int, str]) -> None:
    """Trace `module`, which wraps `model`, and write its graph; `axes` of the output vary in length.

    Raises ValueError if the tracer cannot follow the architecture.
    """
    import torch

    ids = torch.arange(_traced_length(model.config)).remainder(4).repeat(2, 1)  # (2, T)
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if segmented else [])]
    inputs = (ids, torch.ones_like(ids), torch.zeros_like(ids))[: len(names)]
    try:
        with _quiet():
            torch.onnx.export(
                module.eval(),
                inputs,
                str(out),
                dynamo=False,
                input_names=names,
                output_names=[output],
                dynamic_axes={name: {0: "batch", 1: "length"} for name in names} | {output: axes},
                opset_version=_OPSET,
            )
    except Exception as error:  # the tracer raises errors of many classes
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(
            f"Expected an architecture that can be exported to ONNX, but {model.config.model_type} gives: {reason};"
            " choose a model that has onnx/model.onnx, or another architecture."
        ) from error


def _traced_length(config: Any) -> int:
    """Tokens of the traced input. The first DeBERTa's graph holds for texts up to the traced length only."""
    return int(config.max_position_embeddings) if config.model_type == "deberta" else 4


def _cut_last(model: Any) -> Any:
    """Remove and return the last layer of a BERT."""
    layers = model.encoder.layer
    model.encoder.layer = layers[:-1]
    return layers[-1]


def _first_state(layer: Any, states: Any, mask: Any) -> Any:
    """The output of a BERT layer at the first position, (B, 1, D), from all states (B, T, D) and the mask (B, T)."""
    attention, first = layer.attention.self, states[:, :1]
    size = attention.attention_head_size

    def heads(projected: Any) -> Any:
        return projected.unflatten(-1, (-1, size)).transpose(1, 2)  # (B, H, T, D / H)

    query, key, value = heads(attention.query(first)), heads(attention.key(states)), heads(attention.value(states))
    scores = query @ key.transpose(2, 3) / size**0.5  # (B, H, 1, T)
    scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
    context = (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)  # (B, 1, D)
    attended = layer.attention.output(context, first)
    return layer.output(layer.intermediate(attended), attended)


def load_model(weights: Path, *, attention: str = "eager", head: str = "AutoModel") -> Any:
    """The transformer in float32. Raises ValueError if its weights are not safetensors or do not fit.

    `attention` names the kernel: the tracer cannot follow fused ones. `head` names the class of `transformers`.
    """
    with _quiet():
        import transformers

        try:
            model, report = getattr(transformers, head).from_pretrained(
                str(weights),
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                attn_implementation=attention,
                output_loading_info=True,
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise ValueError(f"Expected weights that fit {weights / 'config.json'}, but got: {error}") from error
    unused = "pooler" if head == "AutoModel" else None  # hidden states do not pass through it
    absent = sorted(name for name in report["missing_keys"] if unused is None or unused not in name)
    if absent:
        raise ValueError(
            f"Expected the weights of a {model.config.model_type} in {weights}, but {len(absent)} tensors are missing"
            f" (first {absent[0]}); the checkpoint belongs to another architecture."
        )
    return model.float()


def _check_installed(weights: Path) -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"Expected {' and '.join(_NEEDED)} to convert the encoder in {weights}, but {' and '.join(missing)} is not"
            " installed; run: pip install 'qa-bot[minilm]'"
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide progress bars, the tracer's warnings about constant shapes, and the report of missing weights (see
    `load_model`)."""
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
