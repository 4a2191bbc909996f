"""Office files made in memory."""

import io
import zipfile

import pytest

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": WORD,
        "r": RELATIONS,
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)


def zipped(members):
    """The bytes of a zip archive with these members."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture
def docx():
    """Makes a DOCX of the XML of its body, parts (`styles`: the XML inside), links `id: (kind, target)`, and files."""

    def docx(body, *, links=None, raw=None, files=None, **parts):
        relations = dict(links or {})
        members = {"[Content_Types].xml": "<Types/>", **(files or {})}
        for name, xml in parts.items():
            relations[f"part-{name}"] = (name, f"{name}.xml")
            members[f"word/{name}.xml"] = f"<w:{name} {NAMESPACES}>{xml}</w:{name}>"
        members["word/document.xml"] = (
            raw or f'<?xml version="1.0"?><w:document {NAMESPACES}><w:body>{body}</w:body></w:document>'
        )
        external = {True: 'TargetMode="External"', False: ""}
        members["word/_rels/document.xml.rels"] = "<Relationships>{}</Relationships>".format(
            "".join(
                f'<Relationship Id="{name}" Type="http://x/{kind}" Target="{target}" {external[":" in target]}/>'
                for name, (kind, target) in relations.items()
            )
        )
        return zipped(members)

    return docx
