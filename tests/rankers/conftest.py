import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def pair_bert(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a tokeniser that joins two texts as BERT's does. Not to be written to."""
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path_factory.mktemp("pairs") / "bert"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    first, second = ({"Sequence": {"id": name, "type_id": place}} for place, name in enumerate("AB"))
    marks = (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1))
    opened, middle, closed = ({"SpecialToken": {"id": name, "type_id": segment}} for name, segment in marks)
    content["post_processor"]["pair"] = [opened, first, middle, second, closed]
    path.write_text(json.dumps(content))
    return folder
