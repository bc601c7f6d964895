"""Owns the running of one command by a process that is small itself: a started process is charged with the memory of the one that starts
it (getrusage(2), ru_maxrss), and the benchmark grows to hundreds of megabytes.

python -I launch.py COMMAND...          # JSON on standard output: wall, cpu, megabytes, code; standard error is the command's
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    begin = time.monotonic()
    child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - begin
    report = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1000}
    print(json.dumps({**report, "code": os.waitstatus_to_exitcode(status)}))
