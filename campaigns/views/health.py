"""Whether this server answers and reaches its database; for process supervisors."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200, or 503 when the database does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"database": "unreachable"}, status=503)
    return JsonResponse({"database": "ok"})
