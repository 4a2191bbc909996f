"""Stack Exchange's data dump, `Posts.xml`: each question with its accepted answer, else its best voted, else first.

Answers mostly follow their questions, not always closely and not always after them, so the posts are spooled into a
temporary SQLite file: memory stays flat for a dump of any size. The id is the question's `Id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.formats.data.posts import Post, Posts
from qa_bot.documents.ingest.formats.markup.html import plain
from qa_bot.documents.ingest.records import Item, Record, Reject

QUESTION, ANSWER = "1", "2"  # PostTypeId; further types are wikis and elections
SITE = re.compile(
    r"(?:[a-z-]+\.)*(?:stackexchange\.com|stackoverflow\.com|superuser\.com|serverfault\.com|askubuntu\.com|"
    r"stackapps\.com|mathoverflow\.net)"
)


class _Rows(Handler[Post | Reject]):
    """Reads a post from the attributes of each `<row>`."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.root = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = self.root or tag
        if tag == "row" and attributes.get("PostTypeId") in {QUESTION, ANSWER}:
            self.results.append(self._post(attributes))

    def _post(self, attributes: dict[str, str]) -> Post | Reject:
        is_question = attributes["PostTypeId"] == QUESTION
        try:
            return Post(
                id=_number(attributes, "Id"),
                parent=None if is_question else _number(attributes, "ParentId"),
                accepted=_number(attributes, "AcceptedAnswerId") if "AcceptedAnswerId" in attributes else None,
                score=_number(attributes, "Score") if "Score" in attributes else None,
                title=attributes.get("Title", ""),
                body=attributes.get("Body", ""),
                line=self.line(),
            )
        except ValueError as error:
            return Reject(f"{self.where}:{self.line()}", str(error))


def _number(attributes: dict[str, str], name: str) -> int:
    value = attributes.get(name, "")
    if not re.fullmatch(r"-?[0-9]{1,18}", value):
        raise ValueError(f"Expected a number in the attribute {name}, but got {value[:40]!r}; correct the row.")
    return int(value)


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each question with an answer; posts before an XML error are kept."""
    rows = _Rows(file.where)
    broken = None
    with Posts() as posts:
        try:
            for post in stream(file, rows):
                if isinstance(post, Reject):
                    yield post
                else:
                    posts.add(post)
        except XmlError as error:
            broken = Reject(f"{file.where}:{error.line}", f"{error} The posts before this line are kept.")
        yield from _answered(posts, file)
    if broken is not None:
        yield broken
    elif rows.root != "posts":
        yield Reject(f"{file.where}:1", f"Expected the root <posts>, but got <{rows.root}>; add the file Posts.xml.")


def _answered(posts: Posts, file: SourceFile) -> Iterator[Item]:
    site = SITE.search(file.where)
    for question, answer in posts.pairs():
        where = f"{file.where}:{question.line}"
        text = file.repairs.clean(plain(answer.body)) if answer is not None else ""
        if not text or not question.title.strip():
            missing = "title" if text else "answer"
            yield Reject(where, f"no {missing}: expected question {question.id} to have one; it is left out.")
            continue
        yield Record(
            id=str(question.id),
            title=question.title.strip(),
            text=text,
            body=plain(question.body),
            url=f"https://{site[0]}/questions/{question.id}" if site else "",
            where=where,
        )
