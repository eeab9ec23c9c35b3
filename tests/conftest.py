"""What holds for every test: it leaves the process as it found it, and no order is needed.

`--shuffle 7` deals files, and the tests within each, in the order of that seed. `--within 40` skips
what has not begun 40 seconds after the tests have been collected: `make quick`.
"""

import gc
import os
import random
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

# what decides how tests run; libraries leave names of their own when they are imported first
OURS = re.compile(r"\w+_NUM_THREADS|BATCHLAB_\w+|MPLBACKEND|PYTHONPATH|PATH|HOME")


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run in another order")
    parser.addoption("--within", type=float, metavar="SECONDS", help="skip what begins later")


def pytest_configure(config):
    home = Path(__file__).parents[1] / "solutions"
    if missing := [
        one for one in sorted(home.glob("*/*.md")) if not one.with_suffix(".ipynb").exists()
    ]:
        raise pytest.UsageError(
            f"{missing[0].stem}.ipynb is not made yet, of {missing[0]}: make lessons"
        )
    gc.disable()  # what is listed stays: looking through it took as long as listing
    # a law is no clock: on a machine with much else to do an example may take its time
    settings.register_profile("patient", settings(), deadline=None)
    settings.load_profile("patient")


def pytest_collection_modifyitems(config, items):
    """Files stay together, so that what a file makes once is made once."""
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    dealt = random.Random(seed)
    keys = {path: dealt.random() for path in dict.fromkeys(item.path for item in items)}
    dealt.shuffle(items)
    items.sort(key=lambda item: keys[item.path])


def pytest_collection_finish(session):
    session.config.begun = time.monotonic()
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item):
    limit = item.config.getoption("--within")
    if limit and time.monotonic() - item.config.begun > limit:
        pytest.skip("no time left within a quick run: make test runs it")


@pytest.fixture(autouse=True)
def what_was_there_before_is_not_collected():
    """A collection in a test would walk through all that was ever imported: a second each."""
    gc.freeze()


@pytest.fixture(autouse=True)
def leaves_the_process_as_it_was():
    """A test that leaves something behind fails itself, not another test in another order.

    A thread less in the environment, and processes that are started later add in another order.
    """
    before = state()
    yield
    after = state()
    left = {name: (was, after[name]) for name, was in before.items() if after[name] != was}
    assert not left, f"left behind (before, after): {left}"


def state():
    shared = {"environment": {one for one in os.environ.items() if OURS.fullmatch(one[0])}}
    shared["folder"] = Path.cwd()
    if torch := sys.modules.get("torch"):
        shared["threads"] = torch.get_num_threads()
        shared["type"] = torch.get_default_dtype()
        shared["deterministic"] = torch.are_deterministic_algorithms_enabled()
    return shared
