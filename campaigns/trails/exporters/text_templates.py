"""The text templates of the trails: files below `templates/trails`, and the table row of a format.

They write plain text, so nothing in it is escaped for HTML: each template puts what people and
candidates wrote through a filter of `text_filters` that escapes it for Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from django.template import Context, Engine, Origin
from django.template.loaders.filesystem import Loader

from campaigns.trails.exporters.judged_rounds import ExportedCampaign

BLOCKS = "for|empty|endfor|if|elif|else|endif|with|endwith|include|url|firstof"
LINE_OF_BLOCKS = re.compile(rf"(?m)^((?:\{{% (?:{BLOCKS})\b[^%]*%\}})+)\n")
FILTERS = "campaigns.trails.exporters.text_filters"


class TrimmedLoader(Loader):
    """Reads a template so that a line of nothing but blocks leaves no empty line."""

    def get_contents(self, origin: Origin) -> str:
        """The text without those line ends. Raises TemplateDoesNotExist."""
        return LINE_OF_BLOCKS.sub(r"\1", super().get_contents(origin))


@cache
def _engine() -> Engine:
    loader = f"{__name__}.{TrimmedLoader.__name__}"
    return Engine(
        dirs=[str(settings.BASE_DIR / "templates" / "trails")],
        loaders=[("django.template.loaders.cached.Loader", [loader])],
        builtins=[FILTERS],
        autoescape=False,
    )


def text_of(template: str, **known: Any) -> str:
    """What a template writes of what is known. Raises TemplateDoesNotExist."""
    context = Context(known, autoescape=False, use_l10n=False)
    return _engine().get_template(template).render(context)


def _no_data(trail: ExportedCampaign) -> Iterable[tuple[str, str]]:
    return ()


@dataclass(frozen=True, slots=True)
class TrailFormat:
    """A row of the table of formats.

    texts: path → template, written once, or once a round where the path names `{one}`. A text that
    comes out empty is no file. data: (path, text) of the files that no template writes.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    data: Callable[[ExportedCampaign], Iterable[tuple[str, str]]] = _no_data

    def files(self, trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
        """(path, text) of each."""
        yield from self.data(trail)
        for path, template in self.texts.items():
            for one in trail.rounds if "{one" in path else (None,):
                if text := text_of(template, trail=trail, one=one):
                    yield path.format(one=one), text
