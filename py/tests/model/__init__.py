import pytest

PARTS = ("asking", "ledger", "reading", "ruling", "sight", "working")

# what they assert is told in full
pytest.register_assert_rewrite(*[f"{__name__}.{part}" for part in PARTS])
