import pytest

# what they assert is told in full
pytest.register_assert_rewrite(
    *[f"{__name__}.{name}" for name in ("asking", "ledger", "reading", "ruling", "sight", "working")]
)
