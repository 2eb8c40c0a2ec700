import { existsSync } from 'node:fs';

/**
 * The first process of a container inherits every process whose parent has ended, and must take note of its end: else
 * each stays in the table of processes, which is limited. Node does that for its own children only. So where this is
 * the first process it becomes bash, which takes note of all, with action-server as its child. A signal is passed on;
 * the container ends with action-server and with its exit code. Imported before anything else, so that nothing has been
 * started yet.
 */
const BASH = '/bin/bash';
const SCRIPT = `
trap 'kill -TERM "$server" 2>/dev/null' TERM INT HUP
"$@" &
server=$!
while :; do
  wait "$server"
  status=$?
  kill -0 "$server" 2>/dev/null || exit "$status"
done`;

// A program that is executed keeps pid and environment.
if (process.pid === 1 && process.execve !== undefined && existsSync(BASH))
  process.execve(BASH, [
    'bash',
    '--noprofile',
    '--norc',
    '-c',
    SCRIPT,
    'init',
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]);
