"""One switch for all that is fuzzed: 100 inputs every day, 10,000 with `make deep`."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

PROFILES = [
    pytest.param(100, id="everyday"),
    pytest.param(10_000, id="deep", marks=pytest.mark.deep),
]


@pytest.fixture(params=PROFILES)
def fuzz(request):
    """Try a law on inputs that strategies draw; no input may take longer than twenty seconds."""

    def tried(law, *strategies):
        tries = settings(
            max_examples=request.param,
            deadline=timedelta(seconds=20),
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        tries(given(*strategies)(law))()

    return tried
