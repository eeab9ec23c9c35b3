"""What the page shows: a device that is not there, settings in turns.

seconds of each setting, faults of the device  ->  calls, a wait, a clock

Host and device each have a time of their own: a call takes the host `launch` seconds and hands the
work to a queue, the device works it off, `wait` brings the host to its end.
"""

__all__ = ["Device", "in_turns", "planted"]

MOST_CALLS = 20_000  # what doubles while the clock stands still would never end


class Device:
    """Settings with known seconds on a device with planted faults.

    first: extra seconds of the first call of a setting (kernels load, graphs are compiled)
    heat: how much longer a call takes for every call before it, as a share of its seconds
    jitter: factors of a setting's calls, in turn; the next setting begins one later
    """

    def __init__(self, seconds, *, launch=0.0, first=0.0, heat=0.0, jitter=(1.0,)):
        self.seconds, self.launch, self.first = dict(seconds), launch, first
        self.heat, self.jitter = heat, jitter
        self.host = self.done = 5.0  # no clock begins at 0
        self.called = []
        self.calls = {}  # of each setting so far
        self.log = []  # names of called settings, and the seconds of each look at the clock

    def setting(self, name):
        """The function that hands one call of a setting to the queue."""

        def call():
            if len(self.called) >= MOST_CALLS:
                raise RuntimeError(self._never_ends())
            before = self.calls.get(name, 0)
            self.calls[name] = before + 1
            place = before + list(self.seconds).index(name)
            own = self.seconds[name] * (1 + self.heat * len(self.called))
            own *= self.jitter[place % len(self.jitter)]
            own += self.first * (before == 0)
            self.called.append(name)
            self.log.append(name)
            self.host += self.launch
            self.done = max(self.done, self.host) + own

        return call

    def _never_ends(self):
        if len(self.log) == len(self.called):
            return "clock() is never read: time.time() and the like know nothing of this device"
        return (
            f"{MOST_CALLS:,} calls, and the stretch seems too short still: wait for the "
            "device before the clock is read, and double no further than needed"
        )

    def wait(self):
        """Come back when the queue is empty."""
        self.host = max(self.host, self.done)

    def clock(self):
        """Seconds of the host."""
        self.log.append(self.host)
        return self.host


def planted(seconds=0.1, launch=0.0, first=0.0):
    """(call, wait, clock) of a device with one setting; the first call takes `first` longer.

    >>> call, wait, clock = planted(seconds=0.5, launch=0.25)
    >>> begin = clock()
    >>> call()
    >>> clock() - begin
    0.25
    >>> wait()
    >>> clock() - begin
    0.75
    """
    made = Device({"one": seconds}, launch=launch, first=first)
    return made.setting("one"), made.wait, made.clock


def in_turns(settings, wait, clock, rounds):
    """Seconds of each setting in each round; the first two calls of each do not count."""
    for call in settings.values():
        call()
        call()
    found = {name: [] for name in settings}
    for number in range(rounds):
        for name in list(settings)[:: -1 if number % 2 else 1]:
            wait()
            begin = clock()
            settings[name]()
            wait()
            found[name].append(clock() - begin)
    return found
