"""The ledger against its model: hundreds of random steps each time, thousands in the long run."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from .ledger import Ledger
from .machine import Machine

Tell = Callable[[str], None]

COMMON = settings(
    deadline=None,
    database=None,
    print_blob=False,
    report_multiple_bugs=False,
    stateful_step_count=60,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "short", COMMON, max_examples=15, derandomize=True, phases=[Phase.generate]
)
settings.register_profile("long", COMMON, max_examples=100, stateful_step_count=100)


def take_steps(url: str, profile: str, tell: Tell, number: int | None = None) -> int:
    """Run the machine, each time on an emptied ledger; returns the number of steps."""
    machine = type("Machine", (Machine,), {"url": url})
    Ledger.counts.clear()
    run_state_machine_as_test(
        machine if number is None else seed(number)(machine),
        settings=settings.get_profile(profile),
    )
    counted = ", ".join(f"{count} {what}" for what, count in Ledger.counts.items())
    tell(f"model, {'the same steps each time' if number is None else f'seed {number}'}: {counted}")
    return Ledger.counts["steps"]


@pytest.mark.timeout(600)
def test_the_ledger_does_what_its_contract_says(queue_db: str, tell: Tell) -> None:
    assert take_steps(queue_db, "short", tell) >= 500


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", [1, 2])
def test_the_ledger_does_what_its_contract_says_in_the_long_run(
    queue_db: str, tell: Tell, number: int
) -> None:
    assert take_steps(queue_db, "long", tell, number) >= 2000
