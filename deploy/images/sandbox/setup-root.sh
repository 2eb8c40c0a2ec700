#!/bin/sh
# Turns a Debian root into the sandbox's: users, folders, settings. Runs once as root inside of it, by deploy/images/rootfs.ts and by the
# Dockerfile alike, after the packages are configured. Needs no network.
set -eu

# One group owns what both containers may touch; each has a user of its own, so that the agent's commands cannot read agent-server's state.
groupadd --gid 10000 slipway
useradd --uid 10001 --gid 10000 --no-create-home --home-dir /var/lib/slipway --shell /usr/sbin/nologin agent-server
useradd --uid 10002 --gid 10000 --no-create-home --home-dir /home/agent --shell /bin/bash agent

# A pod mounts a volume over each of these. Their owners here serve whoever runs the image without volumes.
install -d -o 10002 -g 10000 -m 2775 /workspace
install -d -o 10002 -g 10000 -m 0750 /home/agent
install -d -o 0 -g 10000 -m 2770 /var/lib/slipway
install -d -o 0 -g 0 -m 0755 /opt/slipway

# The agent owns its sandbox: `pip install` goes to its home without a word about Debian's packages.
cat >/etc/pip.conf <<'CONF'
[global]
break-system-packages = true
disable-pip-version-check = true
CONF

# People and agents call it so.
ln -s ../../bin/ipython3 /usr/local/bin/ipython

# The day of the last password change is the day of the build: a fixed one, or no two builds would be alike.
sed -i -E 's/^([^:]*:[^:]*:)[0-9]+:/\119000:/' /etc/shadow
rm -f /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid-
