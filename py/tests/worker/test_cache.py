"""The cache: time to live, tags, size; and one computation for many callers."""

import asyncio

import pytest

from pgplane.worker.cache import MARKS, SingleFlight, TtlCache


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> TtlCache[str]:
    return TtlCache(entries=3, clock=clock)


def put(cache: TtlCache[str], key: str, *tags: str, ttl: float = 10) -> bool:
    return cache.put(key, key.upper(), ttl=ttl, tags=tags, as_of=cache.as_of())


def test_an_entry_lives_for_its_own_time(cache: TtlCache[str], clock: Clock) -> None:
    put(cache, "short", ttl=1)
    put(cache, "long", ttl=5)
    clock.now = 1
    assert cache.get("short") is None
    assert cache.get("long") == "LONG"


def test_without_a_time_to_live_nothing_is_stored(cache: TtlCache[str]) -> None:
    assert not put(cache, "a", ttl=0)
    assert cache.get("a") is None


def test_the_oldest_entry_goes_first_however_often_it_is_read(cache: TtlCache[str]) -> None:
    for key in "abc":
        put(cache, key)
    assert cache.get("a") == "A"
    put(cache, "d")
    assert cache.get("a") is None
    assert cache.get("b") == "B"


def test_a_cache_keeps_500_entries_and_the_one_beyond_drives_the_oldest_out(clock: Clock) -> None:
    cache: TtlCache[str] = TtlCache(clock=clock)
    for n in range(501):
        assert put(cache, f"k{n}")
    assert [cache.get("k0"), cache.get("k1"), cache.get("k500")] == [None, "K1", "K500"]


def test_invalidation_drops_every_entry_of_the_tag_and_no_other(cache: TtlCache[str]) -> None:
    put(cache, "a", "c:acme", "u:ada")
    put(cache, "b", "c:acme")
    put(cache, "c", "c:other")
    cache.invalidate("c:acme")
    assert [cache.get(key) for key in "abc"] == [None, None, "C"]


def test_a_slow_old_computation_does_not_replace_a_newer_one(
    cache: TtlCache[str], clock: Clock
) -> None:
    old = cache.as_of()
    new = cache.as_of()
    assert cache.put("a", "fresh", ttl=10, tags=(), as_of=new)
    assert not cache.put("a", "stale", ttl=10, tags=(), as_of=old)
    assert cache.get("a") == "fresh"
    clock.now = 10
    assert cache.put("a", "late", ttl=10, tags=(), as_of=old)


def test_what_was_computed_before_an_invalidation_is_not_stored_after_it(
    cache: TtlCache[str],
) -> None:
    as_of = cache.as_of()
    cache.invalidate("c:acme")
    assert not cache.put("a", "A", ttl=10, tags=["c:acme"], as_of=as_of)
    assert cache.get("a") is None
    assert put(cache, "a", "c:acme")
    assert cache.get("a") == "A"


def test_a_cache_of_no_entries_keeps_nothing(clock: Clock) -> None:
    cache: TtlCache[str] = TtlCache(entries=0, clock=clock)
    assert not put(cache, "a")


def test_beyond_its_bytes_the_oldest_entries_go_first(clock: Clock) -> None:
    cache: TtlCache[str] = TtlCache(entries=3, capacity=10, size=len, clock=clock)
    for key in ("aaaa", "bbbb"):
        assert put(cache, key)
    assert put(cache, "ccc")
    assert [cache.get(key) for key in ("aaaa", "bbbb", "ccc")] == [None, "BBBB", "CCC"]
    assert put(cache, "bbbb"), "a value that is renewed takes its own room"
    assert cache.get("ccc") == "CCC"
    for key in ("d", "e"):
        assert put(cache, key)
    assert [cache.get(key) for key in ("ccc", "bbbb", "d", "e")] == [None, "BBBB", "D", "E"]


def test_what_is_larger_than_the_cache_may_be_is_not_kept_and_drives_nothing_out(
    clock: Clock,
) -> None:
    cache: TtlCache[str] = TtlCache(entries=3, capacity=10, size=len, clock=clock)
    assert put(cache, "aaaa")
    assert not put(cache, "x" * 11)
    assert cache.get("aaaa") == "AAAA"
    assert put(cache, "x" * 10)
    nothing: TtlCache[str] = TtlCache(entries=3, capacity=0, size=len, clock=clock)
    assert not put(nothing, "a")


def test_a_value_is_dropped_only_where_it_is_the_one_that_is_kept(cache: TtlCache[str]) -> None:
    put(cache, "a")
    kept = cache.get("a")
    assert kept is not None
    cache.drop("a", "another")
    assert cache.get("a") is kept
    cache.drop("a", kept)
    assert cache.get("a") is None
    cache.drop("a", kept)


def test_dropped_tags_are_forgotten_and_stay_dropped(cache: TtlCache[str]) -> None:
    put(cache, "dropped", "t:0")
    put(cache, "kept", "t:other")
    computing = cache.as_of()
    for n in range(MARKS + 1):
        cache.invalidate(f"t:{n}")
    assert cache.marks == 0
    assert cache.get("dropped") is None
    assert cache.get("kept") == "KEPT"
    assert not cache.put("late", "LATE", ttl=10, tags=["t:0"], as_of=computing)
    assert put(cache, "anew", "t:0")
    assert cache.get("anew") == "ANEW"


def test_a_tag_that_is_dropped_again_and_again_is_one_mark(cache: TtlCache[str]) -> None:
    put(cache, "kept", "t:other")
    for _ in range(2 * MARKS):
        cache.invalidate("t")
    assert cache.marks == 1
    assert cache.get("kept") == "KEPT"


class Computation:
    """A computation that ends when the test says so."""

    def __init__(self) -> None:
        self.started = 0
        self.begun = asyncio.Event()
        self.end: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self) -> str:
        self.started += 1
        self.begun.set()
        return await asyncio.shield(self.end)


class Deaf(Computation):
    """Hears its cancel, and goes on."""

    heard = False

    async def __call__(self) -> str:
        try:
            return await super().__call__()
        except asyncio.CancelledError:
            self.heard = True
            return await self.end


async def test_callers_of_one_key_share_one_computation() -> None:
    flights: SingleFlight[str] = SingleFlight()
    computation = Computation()
    callers = [asyncio.create_task(flights.run("k", computation)) for _ in range(3)]
    await computation.begun.wait()
    computation.end.set_result("v")

    assert await asyncio.gather(*callers) == [("v", False), ("v", True), ("v", True)]
    assert computation.started == 1


async def test_a_leader_that_fails_or_is_cancelled_leaves_the_others_to_run_themselves() -> None:
    for kill in ("cancel", "fail"):
        flights: SingleFlight[str] = SingleFlight()
        doomed, healthy = Computation(), Computation()
        leader = asyncio.create_task(flights.run("k", doomed))
        await doomed.begun.wait()
        followers = [asyncio.create_task(flights.run("k", healthy)) for _ in range(2)]
        await asyncio.sleep(0)
        if kill == "cancel":
            leader.cancel()
        else:
            doomed.end.set_exception(RuntimeError("broken"))
        await healthy.begun.wait()
        healthy.end.set_result("v")

        assert await asyncio.gather(*followers) == [("v", False), ("v", True)]
        with pytest.raises((RuntimeError, asyncio.CancelledError)):
            await leader
        assert healthy.started == 1


async def test_a_leader_that_is_deaf_to_its_cancel_is_waited_for_by_nobody_else() -> None:
    flights: SingleFlight[str] = SingleFlight()
    deaf, healthy = Deaf(), Computation()
    leader = asyncio.create_task(flights.run("k", deaf))
    await deaf.begun.wait()
    follower = asyncio.create_task(flights.run("k", healthy))
    await asyncio.sleep(0)
    leader.cancel()
    await healthy.begun.wait()
    healthy.end.set_result("v")

    assert await follower == ("v", False)
    deaf.end.set_result("late")
    assert await leader == ("late", False)
    assert deaf.heard


async def test_a_cancelled_follower_does_not_harm_the_leader() -> None:
    flights: SingleFlight[str] = SingleFlight()
    computation = Computation()
    leader = asyncio.create_task(flights.run("k", computation))
    await computation.begun.wait()
    follower = asyncio.create_task(flights.run("k", computation))
    await asyncio.sleep(0)
    follower.cancel()
    computation.end.set_result("v")
    assert await leader == ("v", False)


async def test_a_fresh_caller_joins_only_a_fresh_computation() -> None:
    flights: SingleFlight[str] = SingleFlight()
    stale, fresh = Computation(), Computation()
    first = asyncio.create_task(flights.run("k", stale))
    await stale.begun.wait()
    second = asyncio.create_task(flights.run("k", fresh, fresh=True))
    await fresh.begun.wait()
    third = asyncio.create_task(flights.run("k", stale))
    fourth = asyncio.create_task(flights.run("k", stale, fresh=True))
    await asyncio.sleep(0)
    stale.end.set_result("stale")
    fresh.end.set_result("fresh")

    assert list(await asyncio.gather(first, second, third, fourth)) == [
        ("stale", False),
        ("fresh", False),
        ("fresh", True),
        ("fresh", True),
    ]


async def test_a_value_that_is_not_settled_yet_is_shared_until_it_is() -> None:
    settling: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    flights: SingleFlight[str] = SingleFlight(lambda _: settling)
    first, second = Computation(), Computation()
    first.end.set_result("first")
    second.end.set_result("second")
    assert await flights.run("k", first) == ("first", False)
    assert await flights.run("k", second) == ("first", True)
    settling.set_result(True)
    await asyncio.sleep(0)
    assert await flights.run("k", second) == ("second", False)
    assert (first.started, second.started) == (1, 1)


async def test_a_value_that_comes_out_false_is_not_shared_from_then_on() -> None:
    settling: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    flights: SingleFlight[str] = SingleFlight(lambda value: settling if value == "first" else None)
    first, second = Computation(), Computation()
    first.end.set_result("first")
    assert await flights.run("k", first) == ("first", False)
    second.end.set_result("second")
    settling.set_result(False)  # and nothing else happens before the next one asks
    assert await flights.run("k", second) == ("second", False)
    assert (first.started, second.started) == (1, 1)
