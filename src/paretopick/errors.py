"""The exceptions of the package.

Every one is also the builtin that a Python user would catch, and its message says which value is wrong, what was expected and
what to type instead::

    ParetopickError                 everything below
    ├── InvalidInput                a value that cannot be used                        (ValueError)
    │   ├── BudgetTooSmall          .smallest is the smallest budget that works        (ValueError)
    │   ├── UnknownName             no such instance, policy, schedule or option       (ValueError, KeyError)
    │   └── NotDue                  a pull was told that was not asked for             (ValueError)
    │       ├── PolicyDone          a pull was told after the last round               (ValueError, RuntimeError)
    │       └── AlreadyTold         a measurement was told before, and other values    (ValueError)
    ├── NotReady                    an answer was asked for before there is one        (RuntimeError)
    ├── MissingFile                 a data file the user has to provide is not there   (FileNotFoundError)
    ├── FileNotWritten              a file that cannot be written                      (OSError)
    ├── StorageFailed               a database that cannot be read or written          (OSError)
    │   ├── StudyGone               a study that was deleted, or created anew          (OSError)
    │   ├── LogDamaged              a log that does not follow from itself             (OSError)
    │   └── OutcomeUnknown          .request repeats a change that may have been made  (OSError)
    ├── MeasuringFailed             something could not be measured, again and again   (RuntimeError)
    └── ExecutorFailed              who was to make runs is not there, or was lost     (RuntimeError)

    SimulationInterrupted           Ctrl-C; .partial is the curve of the finished runs (KeyboardInterrupt)
    UnsafeStorage                   a warning: a database where locks may fail         (UserWarning)
"""

from __future__ import annotations

from typing import Any


class ParetopickError(Exception):
    """Base of every error that the package raises on purpose.

    >>> import paretopick as pp
    >>> try:
    ...     pp.instance("covboost")
    ... except pp.ParetopickError as problem:
    ...     print(problem)
    no instance named 'covboost'; did you mean 'cov-boost'?
    """


class InvalidInput(ParetopickError, ValueError):
    """A value that cannot be used; nothing was changed.

    >>> import paretopick as pp
    >>> try:
    ...     pp.Metric("seconds", "mn")
    ... except pp.InvalidInput as problem:  # or ValueError
    ...     print(problem)
    metric 'seconds' has the goal 'mn'; write "min" if small is good, "max" if large is.
    """


class BudgetTooSmall(InvalidInput):
    """The budget cannot pay for what was asked; ``smallest`` is the smallest one that can.

    >>> import paretopick as pp
    >>> try:
    ...     pp.schedule("sh", 206, 1000)
    ... except pp.BudgetTooSmall as problem:
    ...     print(problem.smallest)
    1648
    """

    def __init__(self, message: str, smallest: int) -> None:
        super().__init__(message)
        self.smallest = smallest

    def __reduce__(self) -> tuple[type[BudgetTooSmall], tuple[str, int]]:
        # Exceptions cross process boundaries by being rebuilt from ``args``, which holds the message alone.
        return type(self), (str(self), self.smallest)


class UnknownName(InvalidInput, KeyError):
    """A name that no registry knows: a bad argument to some (ValueError), a failed look-up to others (KeyError).

    >>> import paretopick as pp
    >>> try:
    ...     pp.Study.open("boosters", storage="sqlite://")
    ... except pp.UnknownName as problem:
    ...     print(problem)
    no study named 'boosters'; there is none. The database is sqlite://.
    """

    # KeyError shows the repr of its message, which would put the whole sentence in quotes.
    __str__ = Exception.__str__


class NotDue(InvalidInput):
    """An observation of an arm that was not due; nothing was recorded.

    >>> import paretopick as pp
    >>> policy = pp.policy("uniform", n_arms=2, n_objectives=1, budget=4)
    >>> try:
    ...     policy.tell([0, 0, 0], [[0.1], [0.2], [0.3]])
    ... except pp.NotDue as problem:
    ...     print(problem)
    arm 0 was told 3 times and is due 2 times; tell only what ask() returned, for now arms 0, 1.
    """


class PolicyDone(NotDue, RuntimeError):
    """An observation told to a policy that has finished; nothing was recorded.

    >>> import paretopick as pp
    >>> policy = pp.policy("uniform", n_arms=2, n_objectives=1, budget=2)
    >>> policy.tell([0, 1], [[0.1], [0.2]])
    >>> try:
    ...     policy.tell([0], [[0.3]])
    ... except pp.PolicyDone:
    ...     print(policy.recommend())
    [1]
    """


class AlreadyTold(NotDue):
    """A measurement that was told before, with other values; the first ones stay.

    >>> import paretopick as pp
    >>> study = pp.Study.create("a", options=["x", "y"], metrics={"seconds": "min"}, budget=20, storage="sqlite://")
    >>> (todo,) = study.ask()
    >>> study.tell(todo.number, {"seconds": 1.0})
    True
    >>> try:
    ...     study.tell(todo.number, {"seconds": 2.0})
    ... except pp.AlreadyTold:
    ...     study.correct(todo.number, {"seconds": 2.0}, "misread")
    True
    """

    differences: tuple[Any, ...] = ()
    """Of a table: what would be corrected, each with its row, number, option, metric, and values before and after."""


class NotReady(ParetopickError, RuntimeError):
    """An answer was asked for before the data it needs has arrived.

    >>> import paretopick as pp
    >>> policy = pp.policy("uniform", n_arms=2, n_objectives=1, budget=4)
    >>> try:
    ...     policy.recommend()
    ... except pp.NotReady:
    ...     policy.ask()
    array([0, 0, 1, 1])
    """


class MissingFile(ParetopickError, FileNotFoundError):
    """A data file that cannot be shipped with the package and was not found.

    >>> import paretopick as pp
    >>> try:
    ...     pp.instance("snw", path="nowhere.csv")
    ... except pp.MissingFile:  # or FileNotFoundError
    ...     print("without the sorting networks")
    without the sorting networks
    """


class FileNotWritten(ParetopickError, OSError):
    """A file that cannot be written; what was there before is as it was.

    For instance where the folder of a report is not there::

        try:
            write_report(study, "nowhere/report.html")
        except pp.FileNotWritten as problem:  # or OSError
            print(problem)
    """


class StorageFailed(ParetopickError, OSError):
    """A database that cannot be read or written; what it held before is as it was.

    For instance while its server is away::

        try:
            study = pp.Study.open("boosters", storage="postgresql://server/laboratory")
        except pp.StorageFailed as problem:  # or OSError
            print(problem)
    """


class StudyGone(StorageFailed):
    """A study that is no longer what it was: somebody deleted it, or restored or created another one under its name.

    For instance while this process measures::

        try:
            study.tell(todo.number, values)
        except pp.StudyGone:
            save_elsewhere(values)
    """


class LogDamaged(StorageFailed):
    """A log in which something is missing or was changed, or that went back behind what was seen of it.

    What is left can be read from the last backup::

        try:
            study = pp.Study.open("boosters")
        except pp.LogDamaged as problem:
            print(problem)  # then: paretopick check, and paretopick restore
    """


class OutcomeUnknown(StorageFailed):
    """The database did not answer when a change was to be stored: it is there as a whole, or not at all.

    Made again with ``request``, it is made once, whatever happened the first time.

    For instance with a server that is being restarted::

        try:
            study.tell(todo.number, values)
        except pp.OutcomeUnknown as problem:
            study.tell(todo.number, values, request=problem.request)
    """

    def __init__(self, message: str, request: str | None = None) -> None:
        super().__init__(message)
        self.request = request

    def __reduce__(self) -> tuple[type[OutcomeUnknown], tuple[str, str | None]]:
        return type(self), (str(self), self.request)


class MeasuringFailed(ParetopickError, RuntimeError):
    """An option that could not be measured; what was measured so far is in ``study``.

    >>> import paretopick as pp
    >>> def measure(option):
    ...     raise OSError("no such program")
    >>> try:
    ...     pp.identify(measure, ["x", "y"], {"seconds": "min"}, 20)
    ... except pp.MeasuringFailed as problem:
    ...     print(problem.option, repr(problem.study))
    x <study 'study': 2 options, 0 of 20 used>
    """

    study: object | None = None
    option: str | None = None
    output: str | None = None
    """What the attempt left behind that may help to find the cause."""


class ExecutorFailed(ParetopickError, RuntimeError):
    """Processes or a cluster that were to make simulated runs cannot be reached, or were lost on the way.

    >>> import paretopick as pp
    >>> try:
    ...     pp.simulate(pp.instance("cov-boost"), "ege-sr", runs=8, rng=0, executor="ray://no.such.host.invalid:10001")
    ... except pp.ExecutorFailed as problem:
    ...     print("ray" in str(problem))
    True
    """


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; ``partial`` is the curve of the runs that were finished (or a list), None if there are none.

    For instance in a notebook::

        try:
            curve = pp.simulate(bandit, "ege-sr", runs=1_000_000)
        except pp.SimulationInterrupted as stop:
            curve = stop.partial
    """

    def __init__(self, partial: object | None) -> None:
        super().__init__("the simulation was interrupted; .partial of this exception is what was finished")
        self.partial = partial


class UnsafeStorage(UserWarning):
    """A file of an SQLite database is where locks may fail."""
