import { randomUUID } from 'node:crypto';
import { type BashOutput, ExecuteBashRequest } from '@slipway/contracts';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { ok, type Route, readJson } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

/** Commands that are remembered; the oldest are forgotten first. */
const MAX_REMEMBERED = 1_000;

interface BashCommand {
  readonly id: string;
  readonly kind: 'BashCommand';
  readonly command: string;
  readonly cwd: string | null;
  readonly timeout: number;
  readonly timestamp: string;
}

/** Commands of the platform and of SDK clients, outside the agent's shell: each in a process group of its own. */
export function bashRoutes(actionServer: ActionServerClient, hide: (text: string) => string): Route[] {
  const events: Array<BashCommand | BashOutput> = [];
  const remember = (event: BashCommand | BashOutput): void => {
    events.push(event);
    if (events.length > MAX_REMEMBERED) events.shift();
  };
  const begin = (body: unknown): BashCommand => {
    const request = parseOrThrow(ExecuteBashRequest, body);
    const command: BashCommand = {
      id: randomUUID(),
      kind: 'BashCommand',
      command: request.command,
      cwd: request.cwd ?? null,
      timeout: request.timeout,
      timestamp: new Date().toISOString(),
    };
    remember(command);
    return command;
  };
  const run = async (command: BashCommand, signal: AbortSignal): Promise<BashOutput> => {
    const { exitCode, stdout, stderr } = await actionServer.runCommand(
      { command: command.command, timeout: command.timeout, ...(command.cwd === null ? {} : { cwd: command.cwd }) },
      signal,
    );
    return outputOf(command, exitCode, hide(stdout), hide(stderr));
  };
  return [
    {
      method: 'POST',
      path: '/api/bash/execute_bash_command',
      access: 'session',
      handle: async ({ request, signal }) => {
        const output = await run(begin(await readJson(request)), signal);
        remember(output);
        return ok(output);
      },
    },
    {
      method: 'POST',
      path: '/api/bash/start_bash_command',
      access: 'session',
      handle: async ({ request }) => {
        const command = begin(await readJson(request));
        void run(command, new AbortController().signal).then(remember, (error: unknown) =>
          remember(outputOf(command, -1, '', error instanceof SlipwayError ? error.detail : 'The command could not be run.')),
        );
        return ok(command);
      },
    },
    {
      method: 'GET',
      path: '/api/bash/bash_events/search',
      access: 'session',
      handle: ({ query }) => {
        const limit = Math.min(100, Math.max(1, Number(query.get('limit') ?? 100) || 100));
        const after = Number(query.get('order__gt') ?? -1);
        const from = Number(query.get('page_id') ?? 0) || 0;
        const found = events.filter(
          (event) =>
            (query.get('kind__eq') ?? event.kind) === event.kind &&
            (query.get('command_id__eq') ?? commandIdOf(event)) === commandIdOf(event) &&
            (event.kind !== 'BashOutput' || event.order > after),
        );
        if (query.get('sort_order') === 'TIMESTAMP_DESC') found.reverse();
        return ok({ items: found.slice(from, from + limit), next_page_id: found.length > from + limit ? String(from + limit) : null });
      },
    },
  ];
}

function outputOf(command: BashCommand, exitCode: number, stdout: string, stderr: string): BashOutput {
  return {
    id: randomUUID(),
    kind: 'BashOutput',
    command_id: command.id,
    order: 0,
    exit_code: exitCode,
    stdout: stdout === '' ? null : stdout,
    stderr: stderr === '' ? null : stderr,
    timestamp: new Date().toISOString(),
  };
}

function commandIdOf(event: BashCommand | BashOutput): string {
  return event.kind === 'BashCommand' ? event.id : event.command_id;
}
