"""Connects and is connected to, for network-reach.test.ts. What it finds stands on standard output, a heading and then a line of JSON each.

Run as `python3 -c SOURCE PLAN`. PLAN is JSON with any of:
- `listen`: [[protocol, port]]: answers there with what it hears, for good; writes {"listening": n} when it does.
- `hold`: [protocol, address, port]: writes {"held": true or false} at each change of whether it can be reached, for good. Looks four times a second.
- `until_held`: seconds at most to wait, before `attempt`, until `hold` is out of reach: a network plugin may need a moment for a new pod.
- `attempt`: [[protocol, address, port]]: tries them all at once, then writes {"reached": the indexes of those that answered}, before the first word of `hold`.

Over TCP, whoever accepts is reached. Over UDP only an answer counts: a refusal may be the plugin's own.
"""

import json
import os
import socket
import sys
import threading
import time

plan = json.loads(sys.argv[1])
# Seconds for one attempt.
PATIENCE = 1.0
print("reach-probe", flush=True)


def say(**what):
    print(json.dumps(what), flush=True)


def reaches(protocol, address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM if protocol == "TCP" else socket.SOCK_DGRAM) as end:
            end.settimeout(PATIENCE)
            end.connect((address, port))
            if protocol == "UDP":
                # A question for the address of "." that a DNS server answers too.
                end.send(bytes.fromhex("5301010000010000000000000000010001"))
                end.recv(512)
            return True
    except OSError:
        return False


def echo(protocol, end):
    while True:
        if protocol == "TCP":
            end.accept()[0].close()
        else:
            words, sender = end.recvfrom(512)
            end.sendto(words, sender)


def listen(protocol, port):
    end = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "TCP" else socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # A node has several addresses, and an answer over UDP must come from the one that was asked.
    end.bind((os.environ.get("POD_IP", "0.0.0.0"), port))
    if protocol == "TCP":
        end.listen(64)
    threading.Thread(target=echo, args=(protocol, end), daemon=True).start()


def attempt(destinations):
    reached = []
    tries = [threading.Thread(target=lambda i=i, d=d: reached.append(i) if reaches(*d) else None) for i, d in enumerate(destinations)]
    for one in tries:
        one.start()
    for one in tries:
        one.join()
    say(reached=sorted(reached))


if "listen" in plan:
    for protocol, port in plan["listen"]:
        listen(protocol, port)
    say(listening=len(plan["listen"]))
end_of_wait = time.monotonic() + plan.get("until_held", 0)
while "until_held" in plan and time.monotonic() < end_of_wait and reaches(*plan["hold"]):
    time.sleep(0.25)
if "attempt" in plan:
    attempt(plan["attempt"])
held = None
while True:
    if "hold" in plan and "until_held" not in plan:
        now = reaches(*plan["hold"])
        if now != held:
            held = now
            say(held=held)
    time.sleep(0.25)
