"""Source text → one escaped HTML string per line, with a handful of token classes."""

from __future__ import annotations

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
    """Colour a source file; as many lines come back as `source_lines` has."""
    suffix = "." + file_name.rpartition(".")[2]
    lexer = LEXERS.get(suffix, TextLexer)(stripnl=False, ensurenl=False)
    lines: list[list[str]] = [[]]
    for token, value in lexer.get_tokens("\n".join(source_lines(text))):
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
