"""Labels of tabs in Docusaurus, which the component of all tabs may state."""

from __future__ import annotations

import re

TABS = re.compile(r"<Tabs\b[^<>]{0,500}?\bvalues=\{\[([^\[\]]{0,5000})\]\}|<TabItem\b([^<>]{0,500}?)(?=/?>)")
ENTRY = re.compile(r"\{([^{}]*)\}")
FIELD = re.compile(r"\b(label|value)[\"']?\s*[:=]\s*(?:\"([^\"]+)\"|'([^']+)')")


def with_labels_of_tabs(source: str) -> str:
    """The source with the label of each tab in the element of the tab."""
    labels: dict[str, str] = {}

    def labelled(match: re.Match[str]) -> str:
        if match[1] is not None:
            labels.clear()
            for entry in ENTRY.findall(match[1]):
                fields = _fields(entry)
                labels[fields.get("value", "")] = fields.get("label", "")
            return match[0]
        fields = _fields(match[2])
        label = "" if "label" in fields else labels.get(fields.get("value", ""), "")
        return f'{match[0]} label="{label}"' if label and '"' not in label else match[0]

    return TABS.sub(labelled, source) if "values={[" in source else source


def _fields(text: str) -> dict[str, str]:
    return {name: double or single for name, double, single in FIELD.findall(text)}
