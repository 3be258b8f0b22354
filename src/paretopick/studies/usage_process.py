"""The program that runs a command and says what it used: ``usage.py`` starts it, once for each command.

It begins as a small process of its own because what a command needs is counted from the moment it is forked: a child of a large
process has the memory of its parent to its name, and a child of a busy one is heard late. The clock starts when the child turns
into the command, and that it does only when it is told that this process is waiting for it: nothing that is done here counts. It
imports next to nothing before the fork, so that the child needs little memory; what waiting needs is imported afterwards. Signals
that a command sends to its whole process group do not end this process, which has to say how the command ended.
"""

import _signal as signals  # type: ignore[import-not-found]  # signal itself needs another 0.8 MB
import os
import sys
import time

PIPE = 1 << 20
"""Bytes that a pipe may hold, where the system grants so many: who writes less is never kept waiting."""

FOR_THE_COMMAND = (
    signals.SIGHUP,
    signals.SIGINT,
    signals.SIGQUIT,
    signals.SIGTERM,
    signals.SIGALRM,
    signals.SIGUSR1,
    signals.SIGUSR2,
)
"""Signals that are not for this process, such as those of ``kill 0``; who wants to end it kills it."""


def main(report: int, kept: int, locale: str, words: list[str]) -> None:
    """Runs a command to its end and writes what it used.

    Args:
        report: file to which the numbers go: the exit code, nanoseconds, nanoseconds of processors, memory in the unit of the
            system, and bytes of output; or one number alone, why the command could not be started.
        kept: bytes of its output that are passed on; the rest is counted and thrown away.
        locale: what the command finds in LC_CTYPE, behind an equals sign, or nothing: Python changes it for its children.
        words: the command.
    """
    os.set_inheritable(report, False)
    os.environ.pop("LC_CTYPE", None)
    if locale:
        os.environ["LC_CTYPE"] = locale[1:]
    before = {number: signals.signal(number, signals.SIG_IGN) for number in FOR_THE_COMMAND}
    ignored = [number for number, handler in before.items() if handler == signals.SIG_IGN]
    program, output, (begun, ready), (may_begin, go) = _program(words[0]), _pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)  # or it would wait for itself, should this process be killed
        _become(program, words, None if output is None else output[1], ignored, may_begin, ready)
    os.close(ready)
    if output is None:
        os.write(go, b"!")
        code, cpu, memory = _ended(child)
        end, size = time.monotonic_ns(), os.fstat(1).st_size
    else:
        os.close(output[1])
        end, size = _wait_and_count(child, output[0], kept, go)
        code, cpu, memory = _ended(child)
    start, used, *problem = (int(part) for part in os.read(begun, 1000).split())
    said = problem or [code, end - start, max(cpu - used, 0), memory, size]
    os.write(report, " ".join(map(str, said)).encode())


def _program(name: str) -> str:
    """Where a program is, found as a shell does; the name itself if it is nowhere, which then cannot be started."""
    if "/" in name:
        return name
    places = (os.path.join(folder, name) for folder in os.get_exec_path())
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), name)


def _pipe() -> tuple[int, int] | None:
    """A pipe for the output, where one can wait for it and for the end of a process at the same time (Linux)."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:  # an old system, or one that does not let us
        return None
    return os.pipe()


def _become(program: str, words: list[str], output: int | None, ignored: list[int], may_begin: int, ready: int) -> None:
    """Turns a child into the command as soon as it may; never returns."""
    try:
        if output is not None:
            os.dup2(output, 1)
        for number in (signals.SIGPIPE, signals.SIGXFSZ, *FOR_THE_COMMAND):  # Python ignores the first two
            signals.signal(number, signals.SIG_IGN if number in ignored else signals.SIG_DFL)
        if os.read(may_begin, 1):  # nothing comes if whoever is to measure it has ended
            os.write(ready, b"%d %d" % (time.monotonic_ns(), time.process_time_ns()))
            os.execve(program, words, os.environ)
    except OSError as problem:
        os.write(ready, b" %d" % (problem.errno or 0))
    finally:
        os._exit(127)


def _ended(child: int) -> tuple[int, int, int]:
    """Waits for a child; returns its exit code, nanoseconds of processors and memory, with what it has waited for itself."""
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), round((used.ru_utime + used.ru_stime) * 1e9), used.ru_maxrss


def _wait_and_count(child: int, reader: int, kept: int, go: int) -> tuple[int, int]:
    """Lets the command begin and waits for it, not for others who have its output; returns when it ended, and its bytes."""
    import contextlib  # not before the fork, or the command would have the memory for it to its name
    import fcntl
    import select

    with contextlib.suppress(OSError):  # it is smaller then
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, PIPE)
    os.set_blocking(reader, False)
    process, watch = os.pidfd_open(child), select.poll()
    watch.register(process, select.POLLIN)
    watch.register(reader, select.POLLIN)
    size, end = 0, 0
    os.write(go, b"!")
    while not end:
        ready = [file for file, _ in watch.poll()]
        if process in ready:
            end = time.monotonic_ns()
        if reader in ready:
            moved, closed = _pass_on(reader, kept - size)
            size += moved
            if closed:
                watch.unregister(reader)
    return end, size


def _pass_on(reader: int, room: int) -> tuple[int, bool]:
    """Reads what is in a pipe, and writes as much as there is room for; returns how much it was, and whether there is no more."""
    size = 0
    while size < PIPE:  # more was not in it when the command ended, whoever goes on writing
        try:
            data = os.read(reader, PIPE)
        except BlockingIOError:
            return size, False
        if not data:
            return size, True
        if size < room:
            os.write(1, data[: room - size])
        size += len(data)
    return size, False


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
