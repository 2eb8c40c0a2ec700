import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { type ModelServer, type ModelTurn, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const SECRET = 'canary-value-of-a-secret';
const terminal = (command: string): ModelTurn => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
const FINISH: ModelTurn = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

describe('a command that prints while it runs', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
    await sandbox.call('POST', '/api/slipway/secrets', { variables: { CANARY: SECRET }, git: [] });
  });
  beforeEach(async () => {
    app = await new TestApp().start();
  });
  afterEach(() => app?.close());
  afterAll(async () => {
    await sandbox?.close();
    await model?.close();
  });

  async function start(...script: ModelTurn[]): Promise<string> {
    model.use(script);
    const id = randomUUID();
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false },
    });
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    return id;
  }
  const shown = (): string =>
    app.deltas.flatMap((delta) => (delta.channel === 'progress' ? [delta.text] : [])).join('');
  const event = <K extends ConversationEvent['kind']>(kind: K) =>
    app.events.find((one): one is Extract<ConversationEvent, { kind: K }> => one.kind === kind);

  it('shows each line while it goes on, with colours and without secrets', async () => {
    const file = path.join(sandbox.workspace, 'go-on');
    await start(
      terminal(
        `printf '\\033[31mred\\033[0m\\n'; until [ -e ${file}-1 ]; do sleep 0.05; done; echo "it is $CANARY"; until [ -e ${file} ]; do sleep 0.05; done; echo over`,
      ),
      FINISH,
    );
    await until('the first line', () => shown() === '\u001b[31mred\u001b[0m\n');
    writeFileSync(`${file}-1`, '');
    await until('the second line', () => shown().endsWith('it is <secret:CANARY>\n'));
    const action = event('ActionEvent');
    expect(
      new Set(app.deltas.filter(({ channel }) => channel === 'progress').map(({ responseId }) => responseId)),
    ).toEqual(new Set([action?.id]));
    expect(event('ObservationEvent')).toBeUndefined();
    writeFileSync(file, '');
    await until('the answer', () => event('ObservationEvent'));
    expect(JSON.stringify(app.deltas)).not.toContain(SECRET);
    // Otherwise its next call of the model would take an answer of the next test.
    await until('the end of the run', () =>
      app.events.some((one) => one.kind === 'ActionEvent' && one.tool_name === 'finish'),
    );
  });

  it('keeps its lines in the log when it is stopped, without secrets', async () => {
    const id = await start(terminal('echo "first line"; echo "it is $CANARY"; while :; do sleep 0.1; done'), FINISH);
    await until('the lines', () => shown().includes('first line'));
    await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
    const { error } = await until('the answer to the call', () => event('AgentErrorEvent'));
    expect(error).toMatch(/^interrupted: the user stopped the agent/);
    expect(error).toContain('[Output until then.]\nfirst line\nit is <secret:CANARY>');
    expect(error).not.toContain(SECRET);
  });

  it('keeps of a flood its end alone when it is stopped', async () => {
    const id = await start(
      terminal('for i in $(seq 1 20000); do echo "line $i of many"; done; echo last; while :; do sleep 0.1; done'),
      FINISH,
    );
    await until('the last line', () => shown().includes('last\n'));
    await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
    const { error } = await until('the answer to the call', () => event('AgentErrorEvent'));
    expect(error.length).toBeLessThan(17_000);
    expect(error.endsWith('last')).toBe(true);
  });

  it('answers as before when it prints nothing', async () => {
    const id = await start(terminal('while :; do sleep 0.1; done'), FINISH);
    await until('the call', () => event('ActionEvent'));
    await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
    const { error } = await until('the answer to the call', () => event('AgentErrorEvent'));
    expect(error).not.toContain('[Output');
  });
});

describe('a provider that gives each of its answers the same id', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    app = await new TestApp().start();
  });
  afterAll(async () => {
    await sandbox?.close();
    await app?.close();
    await model?.close();
  });

  it('has each answer streamed from its beginning, under an id of its own that its event names, too', async () => {
    model = await startModelServer({
      script: ['First.', 'Second.', 'Third.'].map((text) => ({ text, id: 'chatcmpl-always-the-same' })),
    });
    const id = randomUUID();
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, stream: true } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false },
    });
    const answers = () =>
      app.events.flatMap((event) =>
        event.kind === 'MessageEvent' && event.source === 'agent' ? [event.llm_response_id] : [],
      );
    for (const number of [1, 2, 3]) {
      await sandbox.call('POST', `/api/conversations/${id}/events`, {
        role: 'user',
        content: [{ type: 'text', text: 'go' }],
        run: true,
      });
      await until(`answer ${number}`, () => answers().length === number);
    }
    expect(new Set(answers()).size).toBe(3);
    // Pieces are sent beside the events, and the last of them may come after the event that they end in.
    const streamed = () =>
      answers().map((response) =>
        app.deltas.filter((delta) => delta.responseId === response && delta.channel === 'content'),
      );
    await until('the pieces of every answer', () =>
      streamed().every((deltas) =>
        deltas
          .map(({ text }) => text)
          .join('')
          .endsWith('.'),
      ),
    );
    expect(streamed().map((deltas) => deltas.map(({ text }) => text).join(''))).toEqual([
      'First.',
      'Second.',
      'Third.',
    ]);
    expect(streamed().map(([first]) => first?.offset)).toEqual([0, 0, 0]);
  });
});
