"""What a process in a sandbox is, sees and can do, as one line of JSON on standard output; then it waits to be ended.

Run as `python3 -c SOURCE ROLE`: the role `agent-server` leaves marks where the other container must not find them.
Each attempt ends in the name of its errno, or in "done" when the kernel did it.
"""

import ctypes
import errno
import glob
import json
import os
import platform
import socket
import stat
import subprocess
import sys
import time

role = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
NUMBERS = {
    "x86_64": {"bpf": 321, "init_module": 175, "kexec_load": 246, "perf_event_open": 298, "open_by_handle_at": 304, "keyctl": 250, "io_uring_setup": 425, "setns": 308, "pivot_root": 155},
    "aarch64": {"bpf": 280, "init_module": 105, "kexec_load": 104, "perf_event_open": 241, "open_by_handle_at": 265, "keyctl": 219, "io_uring_setup": 425, "setns": 268, "pivot_root": 41},
}[platform.machine()]


def called(result):
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def tried(attempt):
    try:
        attempt()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]


def written(path, text):
    with open(path, "w") as file:
        file.write(text)


def in_child(attempt):
    """For what would change the probe itself, were it done."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, attempt().encode())
        os._exit(0)
    os.wait()
    return os.read(reader, 64).decode()


attempts = {
    "mount a file system": called(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
    "bind a folder elsewhere": called(libc.mount(b"/proc", b"/tmp", None, 4096, None)),
    "make its root writable": called(libc.mount(None, b"/", None, 32 | 4096, None)),
    "unmount /proc/kcore": called(libc.umount2(b"/proc/kcore", 0)),
    "get a user namespace": in_child(lambda: called(libc.unshare(CLONE_NEWUSER))),
    "get a mount namespace": in_child(lambda: called(libc.unshare(CLONE_NEWNS))),
    "get a network namespace": in_child(lambda: called(libc.unshare(CLONE_NEWNET))),
    "become root": in_child(lambda: tried(lambda: os.setuid(0))),
    "join the group of root": in_child(lambda: tried(lambda: os.setgroups([0]))),
    "change its root folder": in_child(lambda: tried(lambda: os.chroot("/tmp"))),
    "make a device": tried(lambda: os.mknod("/tmp/device", 0o020666, os.makedev(1, 3))),
    "open a raw socket": tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)),
    "open a packet socket": tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    "set the host name": tried(lambda: socket.sethostname("x")),
    "give a file to root": tried(lambda: (written("/tmp/mine", "x"), os.chown("/tmp/mine", 0, 0))),
    "raise its priority": tried(lambda: os.nice(-5)),
    "press a key on the node": tried(lambda: written("/proc/sysrq-trigger", "h")),
    "set the kernel": tried(lambda: written("/proc/sys/kernel/core_pattern", "|/tmp/x")),
    "write to the cgroup": tried(lambda: written(glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[0], str(os.getpid()))),
    "read the node’s memory": tried(lambda: os.read(os.open("/proc/kcore", os.O_RDONLY), 1) or (_ for _ in ()).throw(OSError(errno.ENODATA, "masked"))),
    "read the node’s keys": tried(lambda: os.read(os.open("/proc/keys", os.O_RDONLY), 1) or (_ for _ in ()).throw(OSError(errno.ENODATA, "masked"))),
}
for name, number in NUMBERS.items():
    attempts["call " + name] = called(libc.syscall(number, 0, 0, 0, 0, 0))


def writable():
    """The topmost folders that may be written, except below /proc and /sys."""
    found = []
    for folder, below, _ in os.walk("/"):
        if folder == "/":
            below[:] = [name for name in below if name not in ("proc", "sys")]
        if os.access(folder, os.W_OK):
            found.append(folder)
            below[:] = []
    return sorted(found)


def files_below(folder):
    return [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]


def group_of_setgid_program():
    """ssh-agent is setgid in Debian, and stays."""
    agent = subprocess.Popen(["/usr/bin/ssh-agent", "-D", "-a", "/tmp/agent"], stdout=subprocess.DEVNULL)
    while not os.path.exists("/tmp/agent"):
        if agent.poll() is not None:
            return []
        time.sleep(0.01)
    with open("/proc/%d/status" % agent.pid) as file:
        groups = [line for line in file if line.startswith("Gid:")][0].split()[1:]
    agent.kill()
    agent.wait()
    return [int(group) for group in groups]


def commands():
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as file:
                found.append(file.read().split("\0")[:1] + [path.split("/")[2]])
        except OSError:
            pass
    return found


if role == "agent-server":
    for path in ("/var/lib/slipway/of-agent-server", "/tmp/of-agent-server"):
        written(path, "secret")
    written("/workspace/shared", "for both")
    os.chmod("/workspace/shared", 0o664)

with open("/proc/self/status") as file:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
with open("/proc/self/uid_map") as file:
    uid_map = file.read().split()

print(
    json.dumps(
        {
            "uid": os.getuid(),
            "gid": os.getgid(),
            "groups": sorted(os.getgroups()),
            "status": {key: status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")},
            "environment": sorted(os.environ),
            "clusterSecrets": files_below("/var/run/secrets") + files_below("/run/secrets"),
            "writable": writable(),
            "setgidIsSet": bool(os.stat("/usr/bin/ssh-agent").st_mode & stat.S_ISGID),
            "groupsOfSetgid": group_of_setgid_program(),
            "processes": commands(),
            "uidMap": [int(part) for part in uid_map],
            "state": sorted(os.listdir("/var/lib/slipway")),
            "temporary": sorted(name for name in os.listdir("/tmp") if name.startswith("of-")),
            "blockDevices": [name for name in os.listdir("/dev") if name.startswith(("sd", "vd", "nvme", "xvd", "loop", "dm-"))],
            "attempts": attempts,
        }
    ),
    flush=True,
)
time.sleep(3600)
