// From a key to its echo in a user's shell: through sandbox-gateway, agent-server and action-server, and to
// agent-server directly, beside the same shell on a bare pseudo-terminal.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { createPool } from '@slipway/db/sql';
import { createTestDatabase, until } from '@slipway/testing';
import { WebSocket } from 'undici';
import { ACTION_SERVER_TOKEN, startAgentServer } from './measure/agent-server.ts';
import { startProcess } from './measure/child-process.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startService } from './measure/service-process.ts';

const BUNDLE = fileURLToPath(new URL('../apps/action-server/bundle/action-server.cjs', import.meta.url));
const { spawn } = createRequire(new URL('../apps/action-server/package.json', import.meta.url))(
  '@lydell/node-pty',
) as typeof import('@lydell/node-pty');
const SECRET = 'bench-sandbox-access-secret-0123456789';
const N = Number(process.env['BENCH_KEYS'] ?? quick(2_000, 60));
/** Keys of one line, which is then cleared. */
const LINE = 40;
/** Between two keys. Milliseconds; no user types faster. */
const PAUSE_MS = 3;

/** A shell that a key can be typed into. */
interface Shell {
  /** Resolves when something has been written after this. */
  press(key: string): Promise<void>;
  close(): void;
}

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-echo-'));
  const [WORKSPACE_DIR, STATE_DIR] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(WORKSPACE_DIR);
  const own = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const tools = startProcess(process.execPath, [BUNDLE], {
    ...own,
    WORKSPACE_DIR,
    STATE_DIR,
    ACTION_SERVER_TOKEN,
    LOG_LEVEL: 'warn',
  });
  const listening = path.join(STATE_DIR, 'action-server.json');
  await until('action-server listens', () => existsSync(listening));
  const agent = await startAgentServer(
    10,
    `http://127.0.0.1:${(JSON.parse(readFileSync(listening, 'utf8')) as { port: number }).port}`,
  );
  await agent.activate();
  const way = await throughGateway(agent);
  try {
    const shells: Record<'pty' | 'agent-server' | 'gateway', Shell> = {
      pty: barePty(WORKSPACE_DIR, own),
      'agent-server': await liveShell(agent.url, agent.sessionKey),
      gateway: await liveShell(way.url, way.token),
    };
    const samples: Record<string, number[]> = { pty: [], 'agent-server': [], gateway: [] };
    for (let index = -100; index < N; index += 1) {
      for (const [name, shell] of Object.entries(shells)) {
        if (index % LINE === 0) await shell.press('\x15');
        await wait(PAUSE_MS);
        const began = performance.now();
        await shell.press('a');
        if (index >= 0) samples[name]?.push(performance.now() - began);
      }
    }
    const { pty = [] } = samples;
    for (const name of ['agent-server', 'gateway'])
      for (const [p, label] of [
        [0.5, 'p50'],
        [0.99, 'p99'],
      ] as const)
        report.figure({
          figure: `${name}-${label}`,
          value: percentile(samples[name] ?? [], p),
          unit: 'ms',
          floor: percentile(pty, p),
          n: N,
        });
    for (const shell of Object.values(shells)) shell.close();
  } finally {
    await way.stop();
    await agent.stop();
    await tools.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function barePty(cwd: string, env: Record<string, string>): Shell {
  const pty = spawn('bash', ['-i'], { name: 'xterm-256color', cols: 80, rows: 24, cwd, env, encoding: null });
  const echoes = new Echoes();
  pty.onData(() => echoes.heard());
  return {
    press: (key) => echoes.after(() => pty.write(key)),
    close: () => pty.kill('SIGKILL'),
  };
}

/** A shell of one's own, over a live channel. */
async function liveShell(url: string, key: string): Promise<Shell> {
  const list = await channel(url, key, 'terminal');
  const opened = list.message('opened');
  list.socket.send(JSON.stringify({ type: 'open-shell', cols: 80, rows: 24 }));
  const shell = await channel(url, key, `terminal?shell=${String((await opened)['shell'])}`);
  const echoes = new Echoes();
  shell.socket.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string') echoes.heard();
  });
  // Its first prompt has come before a key is pressed.
  await wait(1_000);
  return {
    press: (pressed) => echoes.after(() => shell.socket.send(Buffer.from(pressed))),
    close: () => {
      shell.socket.close();
      list.socket.close();
    },
  };
}

async function channel(
  url: string,
  key: string,
  address: string,
): Promise<{ socket: WebSocket; message: (type: string) => Promise<Record<string, unknown>> }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/sockets/live/${address}`);
  socket.binaryType = 'arraybuffer';
  const message = (type: string): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      socket.addEventListener('close', ({ code, reason }) =>
        reject(new Error(`${address} was closed: ${code} ${reason}`)),
      );
      socket.addEventListener('message', ({ data }) => {
        const read = typeof data === 'string' ? (JSON.parse(data) as Record<string, unknown>) : {};
        if (read['type'] === type) resolve(read);
      });
    });
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', session_api_key: key })));
  await message('live-open');
  return { socket, message };
}

/** Who waits for the next thing that is written. */
class Echoes {
  heard: () => void = () => {};

  after(press: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.heard = resolve;
      press();
    });
  }
}

/** A real sandbox-gateway with a real database, that knows this one sandbox. */
async function throughGateway(agent: {
  url: string;
  sessionKey: string;
}): Promise<{ url: string; token: string; stop: () => Promise<void> }> {
  const database = await createTestDatabase();
  const owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'bench', onError: () => {} });
  const sandbox = {
    url: agent.url,
    session_api_key: agent.sessionKey,
    status: 'running',
    pod_status: 'ready',
    working_dir: '/workspace',
    work_hosts: {},
  };
  const runtime = { ...sandbox, runtime_id: 'bench', session_id: 'bench', restart_count: 0, restart_reasons: [] };
  // Asked once: where the sandbox is stays known.
  const runtimeApi = createServer((_request, response) => void response.end(JSON.stringify(runtime))).listen(
    0,
    '127.0.0.1',
  );
  await until('it listens', () => runtimeApi.address() !== null);
  const gateway = await startService('sandbox-gateway', {
    PUBLIC_URL: 'https://slipway.bench',
    SANDBOX_GATEWAY_URL: 'http://gw.bench',
    SANDBOX_ACCESS_SECRET: SECRET,
    DATABASE_URL: database.urls.sandbox,
    RUNTIME_API_URL: `http://127.0.0.1:${(runtimeApi.address() as AddressInfo).port}`,
    RUNTIME_API_KEY: 'bench-runtime-api-key-0123456789-0123456789',
    LOG_LEVEL: 'warn',
  });
  const [id, conversation] = [`sbx_${randomUUID()}`, randomUUID()];
  await owner.query("INSERT INTO app.org (id, slug, name, kind) VALUES ('org_bench', 'bench', 'bench', 'team')");
  await owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_bench', 'usr_bench', 'member')");
  await owner.query(
    "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, 'org_bench', 'u', 'u', 't', 'm')",
    [conversation],
  );
  await owner.query(
    "INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ($1, 'org_bench', 'usr_bench', $2, 8000, now(), now() + interval '1 hour')",
    [id, conversation],
  );
  const claims = { jti: id, org: 'org_bench', sub: 'usr_bench', conversation, port: 8000 };
  const { token } = await new SandboxTokens(SECRET).sign(claims, new Date(), new Date(Date.now() + 3_600_000));
  return {
    url: `${gateway.url}/${conversation}/8000`,
    token,
    stop: async () => {
      await gateway.stop();
      runtimeApi.close();
      await owner.end();
      await database.close();
    },
  };
}
