"""The rules for alerts in the guide: valid YAML over metrics that the service has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "monitoring.md"
NAME = re.compile(r"\bqa_bot_\w+")
LABELS = re.compile(r"(qa_bot_\w+)\{(\w+)=")


def rules() -> list[dict[str, Any]]:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (group,) = yaml.safe_load(block)["groups"]
    return group["rules"]


def test_each_rule_is_complete() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) >= 10
    for rule in rules():
        assert rule.keys() - {"for"} == {"alert", "expr", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")


def test_each_metric_of_a_rule_is_served(service) -> None:
    service.post("/api/ask", json={"question": "Why do cats sleep all day?"})
    text = service.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    served = set(kinds)
    served |= {f"{name}{end}" for name, kind in kinds.items() if kind == "histogram" for end in ("_bucket", "_sum")}
    used = {name for rule in rules() for name in NAME.findall(rule["expr"])}
    assert len(used) >= 10
    assert used <= served
    for rule in rules():
        for name, label in LABELS.findall(rule["expr"]):
            assert re.search(rf"^{name}\{{[^}}]*\b{label}=", text, re.MULTILINE), f"{name} has no label {label}"
    assert 'qa_bot_stage_seconds_bucket{le="0.001",stage="total"}' in text
