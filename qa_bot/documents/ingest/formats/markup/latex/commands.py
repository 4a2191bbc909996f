"""What the reader knows of the commands and environments of LaTeX."""

from __future__ import annotations

import re

VERBATIM = {"verbatim", "Verbatim", "lstlisting", "minted", "alltt"}
INLINE_CODE = {"verb", "lstinline", "mintinline"}
MATHS = {"equation", "align", "gather", "multline", "displaymath", "math", "eqnarray"}
DRAWINGS = {"tikzpicture"}
TABULARS = {"tabular", "tabularx", "tabulary", "longtable", "xltabular", "array", "tabu"}
SECTIONS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
CLAUSES = {"Clause", "SubClause", "Paragraph", "SubParagraph"}
"""Numbered sections of the package scrjura, whose titles are options."""
STYLES = {
    **dict.fromkeys(("textbf", "textsc", "strong"), ("<b>", "</b>")),
    **dict.fromkeys(("emph", "textit", "textsl"), ("<i>", "</i>")),
    **dict.fromkeys(("texttt", "code", "path"), ("<code>", "</code>")),
    "caption": ("<p>", "</p>"),
    "centerline": ("<center>", "</center>"),
    "enquote": ("“", "”"),
    "footnote": (" (", ")"),
    "textsuperscript": ("<sup>", "</sup>"),
}
"""Macro → what stands before and after its argument."""
SWITCHES = {
    **dict.fromkeys(("bf", "bfseries"), ("<b>", "</b>")),
    **dict.fromkeys(("it", "itshape", "em", "sl", "slshape"), ("<i>", "</i>")),
    "centering": ("<center>", "</center>"),
}
"""Macro → what stands before and after the rest of the braces around it."""
DROPPED = {
    **dict.fromkeys(("label", "pageref", "eqref", "cite", "citep", "citet", "includegraphics", "input", "include"), 1),
    **dict.fromkeys(
        ("bibliography", "bibliographystyle", "usepackage", "documentclass", "vspace", "hspace", "index"), 1
    ),
    **dict.fromkeys(
        ("pagestyle", "thispagestyle", "cline", "cmidrule", "bibitem", "phantom", "author", "date", "title"), 1
    ),
    **dict.fromkeys(
        (
            "setlength",
            "addtolength",
            "newcommand",
            "renewcommand",
            "providecommand",
            "def",
            "addcontentsline",
        ),
        2,
    ),
    **dict.fromkeys(("color", "textcolor", "fontsize", "rule", "hypersetup", "parbox", "markboth"), 1),
    **dict.fromkeys(("colorbox", "raisebox", "scalebox", "rotatebox", "cellcolor", "rowcolor", "column"), 1),
    **dict.fromkeys(("thanks", "todo", "usetheme", "usetikzlibrary", "tikzset"), 1),
    **dict.fromkeys(("resizebox", "fcolorbox", "setkomavar"), 2),
}
"""Macro → number of arguments that are left out."""
REFERENCES = {"ref", "autoref", "nameref", "cref", "Cref", "vref"}
LENGTHS = {"parindent", "parskip", "baselineskip", "topmargin", "oddsidemargin", "textwidth", "textheight"}
LENGTH = re.compile(
    r"\s*=?\s*-?[\d.]{1,9}\s*(?:[a-z]{2}|\\[a-z]{1,20})(?:\s*(?:plus|minus)\s*-?[\d.]{1,9}\s*[a-z]{2,5}){0,2}"
)
NODE = re.compile(r"\bnode\b[^{};]{0,300}\{([^{}]{1,300})\}")
"""A text in a drawing."""
DROPPED_OF_ENVIRONMENTS = {
    **dict.fromkeys(("minipage", "multicols", "spacing", "thebibliography", "column", "subfigure"), 1),
    **dict.fromkeys(("wrapfigure", "wraptable", "adjustwidth", "list"), 2),
}
"""Environment → number of arguments that are left out."""
LISTS = {"itemize", "enumerate", "description"}
OTHER_NAMES = {
    **dict.fromkeys(("compactenum", "inparaenum", "asparaenum"), "enumerate"),
    **dict.fromkeys(("compactitem", "inparaitem", "asparaitem"), "itemize"),
}
"""Environments that are read as others."""
OPENED = {
    "itemize": "<ul>",
    "enumerate": "<ol>",
    "description": "<dl>",
    "quote": "<blockquote>",
    "quotation": "<blockquote>",
    "center": "<center>",
}
"""Environment → the tag that opens it."""
PLAIN = {
    *("document", "abstract", "verse", "figure", "table", "flushleft", "flushright", "samepage", "titlepage"),
    *("sloppypar", "small", "large", "landscape", "frame"),
    *OPENED,
    *DROPPED_OF_ENVIRONMENTS,
}
"""Environments without arguments that are words."""
SIGNS = {
    "ldots": "…", "dots": "…", "textendash": "–", "textemdash": "—", "LaTeX": "LaTeX", "TeX": "TeX", "ss": "ß",
    "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "euro": "€", "texteuro": "€",
    "S": "§", "copyright": "©", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»", "textdegree": "°", "slash": "/",
    "textbackslash": "\\", "textasciitilde": "~", "quad": " ", "qquad": " ", "newline": "<br>", "par": "<p>", "i": "ı",
    "oe": "œ", "OE": "Œ",
}  # fmt: skip
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
LETTER_ACCENTS = {"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a"}
OTHERS = {"begin", "end", "item", "href", "url", "multicolumn", "multirow", "setlist", "newtheorem"}
COUNTING = {"newcounter", "setcounter", "addtocounter", "stepcounter", "refstepcounter"}
KNOWN_MACROS = {
    *SECTIONS, *CLAUSES, *STYLES, *SWITCHES, *DROPPED, *REFERENCES, *LENGTHS, *SIGNS, *LETTER_ACCENTS, *OTHERS,
    *COUNTING, *INLINE_CODE,
}  # fmt: skip
"""Macros that keep their meaning when a document defines them anew."""
KNOWN_ENVIRONMENTS = {*VERBATIM, *MATHS, *DRAWINGS, *TABULARS, *PLAIN, *OTHER_NAMES}
