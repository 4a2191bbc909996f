"""Whether a passage answers a question, from the states of their tokens in a transformer that does not learn.

Question and passage are encoded apart, so that only this network, of half a million weights, is trained; it does so on
a CPU. It reads how their tokens match, as the kernels of Xiong et al. (2017) and the transformers of Hofstätter et al.
(2020, TK) do, and what stands near the matches. With unit rows q_i of the question and p_j of the passage:

    e_i = unit(q_i + R(q_i)),   S_ij = e_i · p_j,   x_i = W q_i + F [top_5 S_i, whether a token is the same, S_i0]
                                                          + Σ_j softmax_j(t S_ij) V p_j
    w = softmax_i(u · x_i),   b = Σ_i w_i max_j S_ij
    h_j = conv(conv([P p_j, matches of j]) ∘ (1 + G x̄))
    logit = MLP [x_0, x̄, max_j h_j, Σ_j a_j h_j, Σ_i w_i top_5 S_i, b] + αb + β

where x passes two layers of a transformer. R and the last layer of the MLP begin with 0, so that training begins with
the mean of the highest cosines (Khattab and Zaharia 2020).

Rows of some encoders have a cosine of .6 and more to each other. They are read as unit(q_i − c) and unit(p_j − c) with
their mean c.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.atomic import atomic_path
from qa_core.networks.token_rows import LEAST_TOKENS

TOP = 5
"""Highest cosines of a token that are read."""
NAMES = ("question", "question_mask", "question_ids", "passage", "passage_mask", "passage_ids")
"""Inputs: unit rows (B, T, D), which tokens are real (B, T), and their ids (B, T), of both."""
_SCALE = 20.0  # of unit rows, whose numbers are small
_SHARPNESS, _SLOPE, _MIDDLE = 10.0, 10.0, 0.55  # first values of t, α and −β / α
_SAME = 3.0  # scales features to those beside them
_RELATED = 0.3  # cosine from which a token counts as near
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class InteractionConfig:
    states: int = 384
    width: int = 128
    heads: int = 4
    layers: int = 2
    channels: int = 64
    rank: int = 64  # of R
    dropout: float = 0.1
    is_centred: bool = False  # whether rows are read without what all have in common


class _Layer(nn.Module):
    """A layer of a transformer that normalises first; that of `nn` cannot be exported for all shapes."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.size = width // heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.projections, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """States (B, T, width) of tokens, of which some are real (B, T)."""
        query, key, value = (
            part.unflatten(-1, (-1, self.size)).transpose(1, 2)  # (B, heads, T, size)
            for part in self.projections(self.first(x)).chunk(3, -1)
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None])
        x = x + self.dropout(self.joined(attended.transpose(1, 2).flatten(2)))
        passed: Tensor = x + self.dropout(self.inner(self.second(x)))
        return passed


class InteractionNetwork(nn.Module):
    """Logits (B,) of B pairs; see `NAMES`. A passage has at least `LEAST_TOKENS`, padding included."""

    def __init__(self, config: InteractionConfig) -> None:
        super().__init__()
        states, width, channels = config.states, config.width, config.channels
        moving, last = nn.Linear(config.rank, states), nn.Linear(width, 1)
        self.residual = nn.Sequential(nn.Linear(states, config.rank), nn.GELU(), moving)
        self.question, self.matches = nn.Linear(states, width), nn.Linear(TOP + 2, width)
        self.values = nn.Linear(states, width, bias=False)
        self.layers = nn.ModuleList(_Layer(width, config.heads, config.dropout) for _ in range(config.layers))
        self.importance, self.gate = nn.Linear(width, 1), nn.Linear(width, channels)
        self.passage = nn.Linear(states, channels, bias=False)
        self.near = nn.Conv1d(channels + 5, channels, 7, padding=3)
        self.wider = nn.Conv1d(channels, channels, 7, padding=6, dilation=2)
        self.attention = nn.Linear(channels, 1)
        self.output = nn.Sequential(
            nn.Linear(2 * width + 2 * channels + TOP + 1, width),
            nn.GELU(),
            nn.Dropout(config.dropout),
            last,
        )
        self.centre: Tensor | None
        self.register_buffer("centre", torch.zeros(states) if config.is_centred else None)
        self.sharpness = nn.Parameter(torch.tensor(_SHARPNESS))
        self.line = nn.Parameter(torch.tensor([_SLOPE, -_SLOPE * _MIDDLE]))
        with torch.no_grad():
            for linear in (moving, self.importance, last):
                nn.init.zeros_(linear.weight)
                nn.init.zeros_(linear.bias)

    def forward(
        self,
        question: Tensor,
        question_mask: Tensor,
        question_ids: Tensor,
        passage: Tensor,
        passage_mask: Tensor,
        passage_ids: Tensor,
    ) -> Tensor:
        if (centre := self.centre) is not None:
            question, passage = (functional.normalize(rows - centre, dim=-1) for rows in (question, passage))
        is_same = (question_ids[:, :, None] == passage_ids[:, None, :]) & passage_mask[:, None]
        scaled = _SCALE * question
        moved = functional.normalize(question + self.residual(scaled), dim=-1)
        cosines = (moved @ passage.transpose(1, 2)).masked_fill(~passage_mask[:, None], -1.0)  # (B, Q, P)
        top = cosines.topk(TOP, dim=2).values
        attended = (cosines * self.sharpness).masked_fill(~passage_mask[:, None], _NEVER).softmax(-1)
        features = torch.cat([_SAME * top, is_same.any(2, keepdim=True).float(), cosines[:, :, :1]], -1)
        x = self.question(scaled) + self.matches(features) + attended @ (_SCALE * self.values(passage))
        for layer in self.layers:
            x = layer(x, question_mask)

        is_word = question_mask.clone()
        is_word[:, 0] = False
        weights = self.importance(x).squeeze(2).masked_fill(~is_word, _NEVER).softmax(1)  # (B, Q)
        base = (weights * top[:, :, 0]).sum(1, keepdim=True)
        share = is_word.float() / is_word.float().sum(1, keepdim=True).clamp(min=1)
        mean = (share[:, None] @ x).squeeze(1)
        best, read = self._read(passage, passage_mask, cosines, is_same, is_word, weights, mean)
        summed = (weights[:, None] @ top).squeeze(1)
        logit: Tensor = self.output(torch.cat([x[:, 0], mean, best, read, summed, base], 1)) + self.line[0] * base
        return (logit + self.line[1]).squeeze(1)

    def _read(
        self,
        passage: Tensor,
        mask: Tensor,
        cosines: Tensor,
        is_same: Tensor,
        is_word: Tensor,
        weights: Tensor,
        mean: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """What stands near the matches: the maximum and the attended mean over the passage's tokens, (B, C) each."""
        of_words = cosines.masked_fill(~is_word[:, :, None], -1.0)
        weighted = weights[:, None]
        matches = [
            of_words.amax(1, keepdim=True),
            weighted @ cosines.clamp(min=0),
            _SAME * (weighted @ is_same.float()),
            cosines[:, :1],
            (of_words.clamp(min=_RELATED) - _RELATED).sum(1, keepdim=True),
        ]
        real = mask[:, None].float()
        channels = torch.cat([_SCALE * self.passage(passage).transpose(1, 2), *matches], 1) * real  # (B, C + 5, P)
        gated = self.near(channels) * (1 + self.gate(mean))[:, :, None]
        channels = functional.gelu(self.wider(functional.gelu(gated) * real))
        attention = self.attention(channels.transpose(1, 2)).squeeze(2).masked_fill(~mask, _NEVER).softmax(1)
        best = channels.masked_fill(~mask[:, None], _NEVER).amax(2)
        return best, (channels @ attention[:, :, None]).squeeze(2)


def export_interaction(network: InteractionNetwork, states: int, out: Path) -> None:
    """Write the graph `NAMES -> logit (B,)` of any batch size and lengths to `out`; a row has `states` numbers."""
    lengths = {"question": 6, "passage": LEAST_TOKENS}
    inputs: list[Tensor] = []
    for tokens in lengths.values():
        ids = torch.arange(tokens).repeat(2, 1)
        inputs += [torch.eye(tokens, states).repeat(2, 1, 1), torch.ones_like(ids, dtype=torch.bool), ids]
    axes = {name: {0: "batch", 1: f"{name.partition('_')[0]}_length"} for name in NAMES}
    with warnings.catch_warnings(), atomic_path(out) as partial:
        warnings.simplefilter("ignore")  # the tracer names constants of the shapes
        torch.onnx.export(
            network.eval(),
            tuple(inputs),
            str(partial),
            dynamo=False,
            input_names=[*NAMES],
            output_names=["logit"],
            dynamic_axes={**axes, "logit": {0: "batch"}},
            opset_version=17,
        )
