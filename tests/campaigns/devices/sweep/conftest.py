from tests.evaluator.conftest import problem, service

__all__ = ["problem", "service"]
