"""/api/v1/schema: the API described as OpenAPI, and a page of ours that shows it."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from knowledge.api.lists import CsvTable, JsonLines
from knowledge.api.view import HEADER, LONGEST_KEY, ApiView

PREFIX = "/api/v1"
REFUSAL = {
    "type": "object",
    "description": "A refusal (RFC 9457). field: what is wrong; message: the same as detail.",
    "required": ["type", "title", "status", "detail", "field", "message"],
    "properties": {
        **{name: {"type": "string"} for name in ("type", "title")},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": ["string", "null"]},
        "message": {"type": "string"},
    },
}


class Json(OpenApiJsonRenderer2):
    format = "json"


class Yaml(OpenApiYamlRenderer2):
    format = "yaml"


class SchemaView(ApiView):
    """GET this description of the API, as JSON or YAML."""

    renderer_classes = [Json, Yaml]
    has_etag = True

    @extend_schema(responses={200: {"type": "object"}})
    def get(self, request: Request) -> Response:
        self.asked()
        return Response(described())


@cache
def described() -> dict[str, Any]:
    """The OpenAPI document; it is the same as long as the code is."""
    found: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    return found


def with_problems(result: dict[str, Any], **how: Any) -> dict[str, Any]:
    """Add what every address shares: refusals, an Idempotency-Key, tables as text."""
    result["components"]["schemas"]["Refusal"] = REFUSAL
    refusal = {"schema": {"$ref": "#/components/schemas/Refusal"}}
    key = {
        "name": HEADER,
        "in": "header",
        "description": "A request that is sent again with it is answered and not done again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
    }
    for operations in result["paths"].values():
        for method, operation in operations.items():
            operation["responses"]["default"] = {
                "description": "refused",
                "content": {"application/problem+json": refusal},
            }
            if method == "post":
                operation.setdefault("parameters", []).append(key)
            for answer in operation["responses"].values():
                for renderer in (CsvTable, JsonLines):
                    if renderer.media_type in answer.get("content", {}):
                        answer["content"][renderer.media_type] = {"schema": {"type": "string"}}
    return result


@require_safe
def docs_page(request: HttpRequest) -> HttpResponse:
    """Every address with its parameters, its body and its answer."""
    document = described()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            group = path.removeprefix(PREFIX).strip("/").partition("/")[0]
            contents = next(iter(operation["responses"].values())).get("content", {})
            body = operation.get("requestBody", {}).get("content", {})
            lead, _, more = operation.get("description", "").partition("\n")
            groups.setdefault(group, []).append(
                {
                    "id": operation["operationId"],
                    "method": method.upper(),
                    "path": path,
                    "lead": lead,
                    "more": more.strip(),
                    "parameters": operation.get("parameters", []),
                    "body": _fields(document, body),
                    "answer": _fields(document, contents),
                    "kinds": list(contents),
                }
            )
    objects = {
        name: _fields(document, {"": {"schema": schema}})
        for name, schema in document["components"]["schemas"].items()
        if "results" not in schema.get("properties", {})  # a page, which its rows describe
    }
    return render(request, "knowledge/api.html", {"groups": groups, "objects": objects})


def _fields(document: dict[str, Any], contents: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of an object, or of the rows of a page, each with its type in words."""
    schema: dict[str, Any] = next((each["schema"] for each in contents.values()), {})
    schema = _resolved(document, schema)
    rows = schema.get("properties", {}).get("results")
    if rows is not None:
        schema = _resolved(document, rows["items"])
    needed = schema.get("required", ())
    return [
        {"name": name, "type": _type(part), "needed": name in needed,
         "words": part.get("description", "")}
        for name, part in schema.get("properties", {}).items()
    ]  # fmt: skip


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = document["components"]["schemas"][name] if name else schema
    return found


def _type(schema: dict[str, Any]) -> str:
    """Such as "integer or null", "list of string" or the name of an object."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in schema:
            return " or ".join(map(_type, schema[choice]))
    if "enum" in schema:
        return "one of " + ", ".join(str(each) or '""' for each in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
