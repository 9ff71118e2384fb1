"""What serializers need where a reader of records, not a column, has the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework.fields import Field
from rest_framework.serializers import BaseSerializer


class Read(Field):
    """A value that `read` finds for the whole row; `shape` writes it and describes it."""

    def __init__(self, shape: Field, read: Callable[[Any], Any]) -> None:
        super().__init__(source="*", read_only=True)
        self.shape, self.read = shape, read

    def bind(self, field_name: str, parent: Any) -> None:
        super().bind(field_name, parent)
        self.shape.parent = parent

    def to_representation(self, row: Any) -> Any:
        value = self.read(row)
        return None if value is None else self.shape.to_representation(value)


class ReadField(OpenApiSerializerFieldExtension):
    """The schema of the shape, with null where the reader may find nothing."""

    target_class = Read

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        shape = self.target.shape
        if not isinstance(shape, BaseSerializer):
            found: dict[str, Any] = auto_schema._map_serializer_field(shape, direction)
            return found
        many = getattr(shape, "many", False)
        inner = auto_schema.resolve_serializer(shape.child if many else shape, direction).ref
        found = {"type": "array", "items": inner} if many else inner
        return {"oneOf": [found, {"type": "null"}]} if shape.allow_null else found


class RecordSerializer(BaseSerializer):
    """Mixed into a serializer: its fields are read from what the function `record` answers."""

    record: ClassVar[Any]

    def to_representation(self, row: Any) -> Any:
        read = row if isinstance(row, dict) else type(self).record(row)
        return super().to_representation(read)
