import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SandboxAction, type SandboxObservation, type TerminalObservation } from '@slipway/contracts/actions';
import { textOfContent } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import type { z } from 'zod';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
export const TOKEN = 'a-token-for-tests-of-32-characters';

/** A real action-server process on a workspace of its own. */
export interface RunningServer {
  readonly url: string;
  readonly workspace: string;
  readonly stateDirectory: string;
  readonly process: ChildProcess;
  /** With the token. */
  send(method: string, route: string, body?: string | Buffer, more?: RequestInit): Promise<Response>;
  act(action: z.input<typeof SandboxAction>, signal?: AbortSignal): Promise<z.output<typeof SandboxObservation>>;
  terminal(
    command: string,
    more?: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<z.output<typeof TerminalObservation>>;
  close(): Promise<void>;
}

/**
 * @param env beside what it needs. `HOME` is a folder of its own; with `HOME_DIR` the home is kept with the workspace.
 * @param known folder of an earlier one, which then goes on in it.
 */
export async function startActionServer(
  env: (home: string) => Readonly<Record<string, string>> = () => ({}),
  known?: string,
): Promise<RunningServer> {
  const folder = known ?? (await mkdtemp(path.join(os.tmpdir(), 'slipway-action-')));
  const [workspace, stateDirectory] = [path.join(folder, 'workspace'), path.join(folder, 'state')];
  await mkdir(workspace, { recursive: true });
  await rm(path.join(stateDirectory, 'action-server.json'), { force: true });
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      WORKSPACE_DIR: workspace,
      STATE_DIR: stateDirectory,
      ACTION_SERVER_TOKEN: TOKEN,
      LOG_LEVEL: 'warn',
      ...env(path.join(folder, 'home')),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const file = path.join(stateDirectory, 'action-server.json');
  await until('action-server listens', () => existsSync(file));
  const url = `http://127.0.0.1:${(JSON.parse(await readFile(file, 'utf8')) as { port: number }).port}`;
  const send: RunningServer['send'] = (method, route, body, more) =>
    fetch(url + route, {
      method,
      headers: { 'x-session-api-key': TOKEN },
      ...(body === undefined ? {} : { body }),
      ...more,
    });
  const act: RunningServer['act'] = async (action, signal) => {
    const response = await send(
      'POST',
      '/execute_action',
      JSON.stringify({ action }),
      signal === undefined ? {} : { signal },
    );
    const body = (await response.json()) as { observation: z.output<typeof SandboxObservation> };
    if (!response.ok) throw new Error(JSON.stringify(body));
    return body.observation;
  };
  return {
    url,
    workspace,
    stateDirectory,
    process: child,
    send,
    act,
    terminal: async (command, more = {}, signal) =>
      (await act({ kind: 'TerminalAction', command, ...more } as z.input<typeof SandboxAction>, signal)) as z.output<
        typeof TerminalObservation
      >,
    close: async () => {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const textOf = (observation: { content: Parameters<typeof textOfContent>[0] }): string =>
  textOfContent(observation.content);
