"""A program that forks while another thread makes the first call of its process.

Arguments: the service's address, the kind of client, and every how many modules. Each line of
standard output is what became of one fork, as JSON: the module at whose import it was asked for,
and the records that the child got. Each fork takes place in a new process.
"""

import asyncio
import json
import os
import select
import sys
import threading
import time

import ferry_sdk

PATIENCE = 20.0
"""Seconds after which a child hangs."""

url, kind, step = sys.argv[1], sys.argv[2], int(sys.argv[3])


def first_call():
    """Make the first call of this process, from the name of the client on."""
    if kind == "sync":
        with ferry_sdk.Ferry("t", base_url=url) as ferry:
            return len(ferry.with_raw_response.catalogue.ports().parse())

    async def call():
        async with ferry_sdk.AsyncFerry("t", base_url=url) as ferry:
            return len((await ferry.with_raw_response.catalogue.ports()).parse())

    return asyncio.run(call())


def told_by_a_fork(function, patience=PATIENCE):
    """Return what a function returns in a fork of this process; None if it never does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        with os.fdopen(writer, "w", encoding="utf-8") as file:
            json.dump(function(), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        has_ended = bool(select.select([file], [], [], patience)[0])
        if not has_ended:
            os.kill(pid, 9)
        told = file.read()
    os.waitpid(pid, 0)
    return json.loads(told) if has_ended and told else None


def imported():
    """Return the modules that the first call imports, in their order."""
    names = []
    sys.addaudithook(lambda event, about: event == "import" and names.append(about[0]))
    first_call()
    return [*dict.fromkeys(names)]


def fork_at(module):
    """Fork while the other thread imports a module; return what the child got."""
    reached = threading.Event()

    def hear(event, about):
        if event == "import" and about[0] == module and not reached.is_set():
            reached.set()
            time.sleep(0.05)  # the fork comes now, if nothing keeps it

    sys.addaudithook(hear)
    caller = threading.Thread(target=first_call)
    caller.start()
    assert reached.wait(PATIENCE)
    records = told_by_a_fork(first_call)
    caller.join(PATIENCE)
    return {"module": module, "records": records, "parent_hangs": caller.is_alive()}


for name in told_by_a_fork(imported)[::step]:
    result = told_by_a_fork(lambda name=name: fork_at(name), patience=4 * PATIENCE)
    sys.stdout.write(json.dumps(result) + "\n")
    if result["records"] is None:
        break  # one that hangs is enough to know
