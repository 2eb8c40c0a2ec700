import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { OpenVscodeResponse, VscodeStatus } from '@slipway/contracts/sandboxes';
import { z } from 'zod';
import { killSession } from '../process/kill.js';
import { processStart } from '../process/process-table.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';

/** Longest time until it listens. Milliseconds. */
const START_MS = 45_000;
const LOOK_EVERY_MS = 100;
/** Longest wait for the end of one that was killed. Milliseconds. */
const END_MS = 5_000;
/** Of what it printed, in the reason why it did not start. Characters. */
const TAIL = 1_500;

type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface VscodeServerOptions {
  /** Where the image has it: `out/server-main.js` lies there. */
  readonly directory: string;
  readonly port: number;
  /** Where its token is kept, outside of the workspace. */
  readonly stateDirectory: string;
  readonly environment: ShellEnvironment;
}

/**
 * VS Code's own server, where the image has it: one process of the agent's user, started when it is first wanted. Its
 * connection token is new with each start and stands in a file that this user alone reads. It ends by itself some
 * minutes after the last window was closed, and with this process. One that a killed process of ours has left behind,
 * and whose token is lost, is ended by the next start: a file says which it is.
 */
export class VscodeServer {
  #running: { readonly child: Child; readonly token: string } | undefined;
  #opening: Promise<OpenVscodeResponse> | undefined;

  constructor(private readonly options: VscodeServerOptions) {}

  /** Why there is none in this image; `null` when there is one. */
  get missing(): string | null {
    try {
      accessSync(this.program, constants.R_OK);
      return null;
    } catch {
      return 'The image of this sandbox has no VS Code. An image with the layer vscode has one.';
    }
  }

  status(): VscodeStatus {
    const { missing } = this;
    return {
      running: this.#running !== undefined,
      enabled: missing === null,
      ...(missing === null ? {} : { message: missing }),
    };
  }

  /**
   * Starts it unless it runs. A missing requirement is an answer, not a rejection. Callers that come together share one
   * start.
   */
  async open(host: string): Promise<OpenVscodeResponse> {
    const { missing } = this;
    if (missing !== null) return { open: false, reason: missing };
    // One that is starting does not listen yet: who comes meanwhile waits with the first.
    if (this.#opening === undefined && this.#running !== undefined)
      return { open: true, port: this.options.port, token: this.#running.token };
    this.#opening ??= this.start(host).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  close(): void {
    if (this.#running?.child.pid !== undefined) killSession(this.#running.child.pid);
    this.#running = undefined;
  }

  private get program(): string {
    return path.join(this.options.directory, 'out', 'server-main.js');
  }

  private async start(host: string): Promise<OpenVscodeResponse> {
    const { port, stateDirectory, environment } = this.options;
    const known = path.join(stateDirectory, 'vscode-process.json');
    await endLeftBehind(known);
    const token = randomBytes(24).toString('base64url');
    const tokenFile = path.join(stateDirectory, 'vscode-token');
    await mkdir(stateDirectory, { recursive: true });
    await writeFile(tokenFile, token, { mode: 0o600 });
    const env = environment.variables('editor');
    const data = path.join(env['HOME'] ?? stateDirectory, '.local', 'share', 'slipway-vscode');
    const args = [
      '--host',
      host,
      '--port',
      String(port),
      '--connection-token-file',
      tokenFile,
      '--server-data-dir',
      data,
    ];
    const still = ['--accept-server-license-terms', '--telemetry-level', 'off', '--enable-remote-auto-shutdown'];
    // The sandbox is the boundary: what lies in it needs no second trust. And no advertisement.
    still.push('--disable-workspace-trust', '--disable-getting-started-override');
    await settingsOnce(path.join(data, 'data', 'Machine'));
    const child = spawn(process.execPath, [this.program, ...args, ...still], {
      env,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed = (printed + chunk.toString()).slice(-4_096);
      });
    }
    const running = { child, token };
    let ended: string | null = null;
    child.once('error', (error) => {
      ended = error.message;
    });
    child.once('exit', (code, signal) => {
      ended = `it ended with ${signal ?? code}`;
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    // A full disk keeps it from no work: who comes after us does not find it then.
    if (child.pid !== undefined) await remember(known, child.pid).catch(() => {});
    for (const until = performance.now() + START_MS; ended === null; await wait(LOOK_EVERY_MS)) {
      if (await answers(host, port, token)) return { open: true, port, token };
      if (performance.now() > until) {
        this.close();
        ended = `it did not listen within ${START_MS / 1000} s`;
      }
    }
    if (this.#running === running) this.#running = undefined;
    const taken = /EADDRINUSE/.test(printed);
    return {
      open: false,
      reason: taken
        ? `Port ${port} of the sandbox is taken by another program.`
        : `VS Code did not start: ${ended}. ${lastOf(printed, token)}`.trim(),
    };
  }
}

const LeftBehind = z.object({ pid: z.int().min(2), started: z.string() });

/** Which process it is, for whoever comes after this one. */
async function remember(file: string, pid: number): Promise<void> {
  const started = processStart(pid);
  if (started === null) return;
  await writeFile(`${file}.new`, JSON.stringify({ pid, started } satisfies z.infer<typeof LeftBehind>), {
    mode: 0o600,
  });
  await rename(`${file}.new`, file);
}

/**
 * Ends it with all that it started, and waits until its port is free; nothing happens when it has ended, also when its
 * number is another's by now.
 */
async function endLeftBehind(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const { data } = LeftBehind.safeParse(parsed(text));
  if (data === undefined || data.pid === process.pid || processStart(data.pid) !== data.started) return;
  killSession(data.pid);
  for (const until = performance.now() + END_MS; processStart(data.pid) === data.started && performance.now() < until; )
    await wait(LOOK_EVERY_MS / 10);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Whether ours listens: it refuses whoever has no token, and not who has. Another program on the port makes ours end.
 */
async function answers(host: string, port: number, token: string): Promise<boolean> {
  const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const statusOf = async (query: string): Promise<number> => {
    const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/${query}`;
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2_000) }).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status ?? 0;
  };
  return (await statusOf('')) === 403 && (await statusOf(`?tkn=${token}`)) < 400;
}

/** Before the first start; from then on they are the user's. */
const FIRST_SETTINGS = {
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'extensions.ignoreRecommendations': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

async function settingsOnce(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify(FIRST_SETTINGS, null, 2), { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

function lastOf(printed: string, token: string): string {
  return printed.replaceAll(token, '…').trim().slice(-TAIL);
}
