import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort, until } from '@slipway/testing';
import { type PythonEnvironment, pythonEnvironment } from '@slipway/testing/programs';
import { type RunningProcess, startProcess } from './child-process.ts';
import { NOT_QUICK, QUICK } from './quick.ts';

const VERSION = '1.58.0';
const SESSION_KEY = 'bench-session-key-of-at-least-32-characters';
const REQUIREMENTS = path.join(import.meta.dirname, 'openhands-server.txt');
/** The peer takes 12 s here on an idle machine. Milliseconds. */
const START_MS = 120_000;

/** OpenHands' own agent server, from PyPI, driven over the same routes as ours. */
export interface OpenHandsServer {
  readonly process: RunningProcess;
  readonly url: string;
  readonly sessionKey: string;
  createConversation(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Its packages at fixed versions; installed once, kept outside of the checkout. @returns them, or a sentence that says
 * why they are not here.
 */
export async function openhandsServerEnvironment(): Promise<PythonEnvironment | { readonly missing: string }> {
  if (QUICK) return { missing: `${NOT_QUICK}.` };
  // What is listed is all there is to install: looking for versions that fit takes pip minutes.
  return pythonEnvironment({
    name: `openhands-agent-server/${VERSION}`,
    packages: ['--no-deps', '--no-compile', '--requirement', REQUIREMENTS],
    oldest: [3, 12],
    installMs: 600_000,
  });
}

/**
 * How often a start is tried: its imports run in several threads and now and then end in a deadlock that Python sees.
 */
const STARTS = 3;

/**
 * Starts it on a free port and waits for its first 200. A start that broke is tried again and said; only one that came
 * up is measured.
 */
export async function startOpenHandsServer(
  environment: PythonEnvironment,
): Promise<OpenHandsServer & { readonly wallMs: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const began = performance.now();
    try {
      return { ...(await startOnce(environment)), wallMs: performance.now() - began };
    } catch (error) {
      if (attempt === STARTS) throw error;
      console.log(`A start of the peer broke and is tried again: ${String(error).trim().split('\n').at(-1)}`);
    }
  }
}

async function startOnce(environment: PythonEnvironment): Promise<OpenHandsServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'openhands-server-'));
  const port = await freePort();
  const running = startProcess(environment.program('agent-server'), ['--host', '127.0.0.1', '--port', String(port)], {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SESSION_API_KEY: SESSION_KEY,
    OH_CONVERSATIONS_PATH: path.join(folder, 'conversations'),
    OH_BASH_EVENTS_DIR: path.join(folder, 'bash'),
    OH_ENABLE_VSCODE: 'false',
    OH_ENABLE_VNC: 'false',
    OH_PRELOAD_TOOLS: 'false',
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const healthy = async (): Promise<boolean> => {
    if (running.child.exitCode !== null) throw new Error(`OpenHands' agent server ended:\n${running.output()}`);
    return (await fetch(`${url}/health`)).ok;
  };
  await until("OpenHands' agent server answers", healthy, START_MS).catch(async (error: unknown) => {
    const output = running.output();
    await stop();
    throw new Error(`${String(error)}\n${output.slice(-3_000)}`);
  });
  return {
    process: running,
    url,
    sessionKey: SESSION_KEY,
    createConversation: async () => {
      const agent = {
        kind: 'Agent',
        llm: { model: 'openai/none', base_url: 'http://127.0.0.1:9', api_key: 'none', usage_id: 'agent' },
        tools: [],
      };
      const answer = await fetch(`${url}/api/conversations`, {
        method: 'POST',
        headers: { 'x-session-api-key': SESSION_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ agent, workspace: { working_dir: folder, kind: 'LocalWorkspace' } }),
      });
      if (!answer.ok)
        throw new Error(
          `a conversation of OpenHands' agent server: ${answer.status} ${(await answer.text()).slice(0, 500)}`,
        );
      return ((await answer.json()) as { id: string }).id;
    },
    stop,
  };
}

/**
 * Does `measure` beside ours, in the same run. Where the peer cannot be installed its recorded figure stands, and the
 * reason is printed.
 */
export async function beside<T>(measure: (server: OpenHandsServer) => Promise<T>, recorded: T): Promise<T> {
  const environment = await openhandsServerEnvironment();
  if ('missing' in environment) {
    console.log(`The peer's figures are those that were recorded elsewhere. ${environment.missing}`);
    return recorded;
  }
  const server = await startOpenHandsServer(environment);
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}
