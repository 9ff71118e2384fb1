"""Source text → one escaped HTML string per line, with a handful of token classes."""

from __future__ import annotations

import time
from html import escape

from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import CppLexer, CudaLexer, PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

LEXERS: dict[str, type[Lexer]] = {
    ".py": PythonLexer,
    ".cpp": CppLexer,
    ".cu": CudaLexer,
    ".hip": CudaLexer,
}
# Of this thread's own processor time. Honest files take hundredths of a second. There are short
# ones, of empty lines or slashes alone, for which a lexer takes minutes.
MOST_S = 1.0
# Most specific first: a token takes the first class whose type contains it.
CLASSES = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword.Type, "t"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "n"),
    (Name.Decorator, "n"),
    (Name.Class, "t"),
    (String, "s"),
    (Number, "m"),
)


def source_lines(text: str) -> list[str]:
    """Split a source as the lexers do: any line end counts, a final one opens no new line."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.removesuffix("\n").split("\n") if plain else []


def highlighted(text: str, file_name: str) -> list[SafeString]:
    """Colour a source file; as many lines come back as `source_lines` has.

    One that takes too long stays without colours.
    """
    plain = source_lines(text)
    end = time.thread_time() + MOST_S
    suffix = "." + file_name.rpartition(".")[2]
    lexer = LEXERS.get(suffix, TextLexer)(stripnl=False, ensurenl=False)
    lines: list[list[str]] = [[]]
    for token, value in lexer.get_tokens("\n".join(plain)):
        if time.thread_time() > end:
            return [mark_safe(escape(line)) for line in plain]
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append(_span(token, piece))
    if not text:
        return []
    # Every piece went through html.escape in _span, so the join is safe.
    return [mark_safe("".join(line)) for line in lines]


def _span(token: _TokenType, piece: str) -> str:
    name = next((css for kind, css in CLASSES if _within(token, kind)), "")
    text = escape(piece)
    return f'<span class="tok-{name}">{text}</span>' if name else text


def _within(token: _TokenType | None, kind: _TokenType) -> bool:
    """Say whether a token type is `kind` or one of its kinds."""
    while token is not None and token is not kind:
        token = token.parent
    return token is kind
