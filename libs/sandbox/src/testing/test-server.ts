import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serveJson } from './http.js';
import { Latch } from './latch.js';

/**
 * A small real sandbox for the process backend's tests: `node test-server.js agent-server|action-server`, configured as
 * the real ones are. Both answer `/alive`; agent-server keeps the activation latch; action-server returns its
 * environment and starts daemons on request.
 */
const role = process.argv[2] ?? '';
const variable = (name: string): string => process.env[name] ?? '';
const latch =
  role === 'agent-server'
    ? new Latch(
        { slotId: variable('SLOT_ID'), podUid: variable('POD_UID'), publicKey: variable('ACTIVATION_PUBLIC_KEY') },
        variable('WORKSPACE_DIR'),
      )
    : null;

const { port } = await serveJson(Number(process.env['PORT'] ?? 0), (method, url, request, body) => {
  if (url === '/alive') return { status: 200, body: { status: 'ok' } };
  if (latch !== null && url === '/api/init')
    return method === 'POST'
      ? latch.activate(request.headers.authorization, body)
      : { status: 200, body: latch.state() };
  if (role === 'action-server' && request.headers['x-session-api-key'] === variable('ACTION_SERVER_TOKEN')) {
    if (url === '/environment') return { status: 200, body: process.env };
    if (url === '/daemonise') {
      // Twice removed from its process group, as a program that wants to stay does it.
      const child = spawn('sh', ['-c', 'setsid sleep 300 >/dev/null 2>&1 & echo $!'], {
        detached: true,
        stdio: 'ignore',
      });
      child.unref();
      return { status: 200, body: { pid: child.pid } };
    }
  }
  return { status: 404, body: {} };
});

const file = path.join(variable('STATE_DIR'), role === 'agent-server' ? 'listening.json' : 'action-server.json');
writeFileSync(`${file}.tmp`, JSON.stringify({ port, pid: process.pid }));
renameSync(`${file}.tmp`, file);
process.on('SIGTERM', () => process.exit(0));
