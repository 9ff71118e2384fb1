"""`spec`: one cited value of one platform, or UNKNOWN and how to obtain it."""

from __future__ import annotations

from typing import Any, NoReturn

from campaigns.management.door import Argument, Door, ExitCode, Verb, argument
from knowledge.lookup import UNKNOWN, find, how_to_obtain
from knowledge.models import Platform, Spec
from knowledge.specs.facts import QUALIFIERS
from knowledge.specs.metrics import MetricError

QUESTION: tuple[Argument, ...] = (
    argument("platform", help="slug of a platform, such as h200-sxm"),
    argument("metric", help="name of a metric, such as memory_bandwidth"),
    *(argument(f"--{name.replace('_', '-')}", dest=name) for name in QUALIFIERS),
)


class Command(Door):
    help = "Look up one value with the lines it rests on."

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("get", "the value and its citation; exit 4 when unknown", self.get, QUESTION),
            Verb("cite", "only the citation line; exit 4 when unknown", self.cite, QUESTION),
        )

    def get(self, **question: Any) -> None:
        spec = self._find(**question)
        self.emit(_record(spec), f"{spec.shown}\n{spec.citation}")

    def cite(self, **question: Any) -> None:
        spec = self._find(**question)
        self.emit({"citation": str(spec.citation)}, str(spec.citation))

    def _find(self, platform: str, metric: str, **options: Any) -> Spec:
        """The answer, or the end of the command."""
        asked = {name: options[name] for name in QUALIFIERS if options.get(name)}
        try:
            row = Platform.objects.get(slug=platform)
            spec = find(row, metric, **asked)
        except Platform.DoesNotExist:
            known = ", ".join(Platform.objects.values_list("slug", flat=True))
            accepted = known or "none yet: run `python manage.py wiki import`"
            self.fail(ExitCode.NOT_FOUND, f"unknown platform '{platform}'; accepted: {accepted}")
        except MetricError as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        if spec is None:
            self._unknown(row, metric, asked)
        return spec

    def _unknown(self, platform: Platform, metric: str, asked: dict[str, str]) -> NoReturn:
        how = how_to_obtain(platform, metric, **asked)
        data = {
            "platform": platform.slug,
            "metric": metric,
            "qualifiers": asked,
            "value": None,
            "display": UNKNOWN,
            "how_to_obtain": how,
        }
        self.emit(data, UNKNOWN)
        words = " ".join([metric, *(f"{key}={value}" for key, value in asked.items())])
        self.fail(ExitCode.NO_APPROVED_VALUE, f"{words} of {platform.slug} is unknown: {how}")


def _record(spec: Spec) -> dict[str, Any]:
    citation = spec.citation
    return {
        "platform": spec.platform.slug,
        "metric": spec.metric,
        "qualifiers": spec.qualifiers,
        "value": spec.value,
        "unit": spec.unit,
        "display": spec.shown,
        "evidence": spec.evidence,
        "source": spec.source,
        "source_url": spec.source_url,
        "citation": str(citation),
        "href": citation.get_absolute_url() if citation else None,
    }
