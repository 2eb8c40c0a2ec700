import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { type ConversationEvent } from '@slipway/contracts/events';
import { type ModelScript, type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from './sandbox.js';
import { TestApp } from './test-app.js';

export const terminal = (command: string, more: object = {}) => ({
  toolCalls: [{ name: 'terminal', arguments: { command, ...more } }],
});
export const finish = (message = 'done') => ({ toolCalls: [{ name: 'finish', arguments: { message } }] });

export let sandbox: TestSandbox;
export let model: ModelServer;
export let app: TestApp;

/** New processes in the place of those that were ended, on the same files. */
export async function restartSandbox(): Promise<void> {
  sandbox = await TestSandbox.start(sandbox);
}

/** A conversation with its own app. */
export async function start(
  script: ModelScript,
  more: {
    resumeRun?: boolean;
    notice?: string;
    id?: string;
    maxIterations?: number;
    llm?: object;
    on?: TestSandbox;
    extra?: object;
  } = {},
): Promise<string> {
  if (more.id === undefined) app = await new TestApp().start();
  model.use(script);
  const { status, body } = await (more.on ?? sandbox).call<{ id: string }>('POST', '/api/conversations', {
    conversation_id: more.id ?? randomUUID(),
    agent: {
      llm: {
        model: 'openai/scripted',
        base_url: model.url,
        api_key: 'sk-very-secret-key',
        num_retries: 2,
        ...more.llm,
      },
    },
    workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
    max_iterations: more.maxIterations ?? 20,
    slipway: {
      epoch: app.epoch,
      ingestUrl: app.url,
      ingestToken: 'ingest-token-very-secret',
      head: app.lines.length,
      resumeRun: more.resumeRun ?? false,
      ...(more.notice === undefined ? {} : { notice: more.notice }),
    },
    ...more.extra,
  });
  expect([200, 201]).toContain(status);
  return body.id;
}

export async function say(id: string, text: string, more: object = {}): Promise<void> {
  const { status } = await sandbox.call('POST', `/api/conversations/${id}/events`, {
    role: 'user',
    content: [{ type: 'text', text }],
    run: true,
    ...more,
  });
  expect(status).toBe(200);
}

export const statuses = (events: readonly ConversationEvent[]): unknown[] =>
  events.flatMap((event) =>
    event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status' ? [event.value] : [],
  );
export const status = (): unknown => statuses(app.events).at(-1);
export const untilStatus = (wanted: string): Promise<unknown> =>
  until(`status ${wanted}; app has ${JSON.stringify(app.events.slice(-3))}`, () => status() === wanted);
export const kinds = (): string[] =>
  app.events.map((event) => (event.kind === 'ConversationStateUpdateEvent' ? `${event.key}` : event.kind));

/** The app's log and the sandbox's own file must hold the same events. */
export async function expectSameLog(id: string): Promise<void> {
  await until('the same log', async () => {
    const { body } = await sandbox.call<{ items: ConversationEvent[] }>(
      'GET',
      `/api/conversations/${id}/events/search?limit=100`,
    );
    expect(body.items.map((event) => event.id)).toEqual(app.events.map((event) => event.id));
    return true;
  });
}

export async function processes(): Promise<string> {
  const { body } = await sandbox.call<{ stdout: string | null }>('POST', '/api/bash/execute_bash_command', {
    command: 'ps -eo args',
    timeout: 10,
  });
  return body.stdout ?? '';
}

/** A sandbox with a scripted model; each conversation has an app of its own. */
export function setUpAgentServer(): void {
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
  });
  afterAll(() => Promise.all([sandbox.close(), model.close()]));
  afterEach(() => app?.close());
}
