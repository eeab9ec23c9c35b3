"""What a check says when it refuses: as text, and line by line."""

import pytest

from batchlab.classroom import check


def refusal(judge, *arguments, **options) -> str:
    with pytest.raises(check.CheckFailed) as caught:
        judge(*arguments, **options)
    return str(caught.value)


def lines(*arguments, **options) -> dict[str, str]:
    said = refusal(check.call, *arguments, **options)
    return {line[:7].strip(): line[8:] for line in said.splitlines()}
