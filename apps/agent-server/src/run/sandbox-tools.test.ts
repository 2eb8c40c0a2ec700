import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { textOfContent } from '@slipway/contracts/events';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { pythonEnvironment } from '@slipway/testing/programs';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const SECRET = 'a-secret-value-of-36-characters-long';
const python = await pythonEnvironment({ name: 'ipykernel/6.30.1', packages: ['ipykernel==6.30.1'] });

describe('the tools that run in the sandbox', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  const call = (name: string, args: Record<string, unknown>) => ({ toolCalls: [{ name, arguments: args }] });
  /** What the agent did with these answers of the model, as the app has it. */
  const done = async (script: Parameters<ModelServer['use']>[0]): Promise<TestApp> => {
    const app = await new TestApp().start();
    model.use(script);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-of-the-model' } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      max_iterations: 20,
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'ingest-token-very-secret',
        head: 0,
        resumeRun: false,
      },
    });
    await sandbox.call('POST', `/api/conversations/${body.id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    await until(
      'the end of the run',
      () => app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished'),
      30_000,
    );
    return app;
  };
  const begin = async (PATH: string): Promise<void> => {
    sandbox = await TestSandbox.create();
    sandbox.env = { PATH };
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    expect((await sandbox.activate({})).status).toBe(200);
  };
  beforeAll(async () => {
    model = await startModelServer({ script: [] });
  });
  afterAll(() => model.close());

  const promptOf = (app: TestApp): string => {
    const prompt = app.events.findLast((event) => event.kind === 'SystemPromptEvent');
    return prompt?.kind === 'SystemPromptEvent' ? prompt.system_prompt.text : '';
  };

  it('are offered only where the image has what they need, and the system prompt says once which are missing and what has them', async () => {
    // A PATH with bash and git, and no Python.
    await begin('/usr/bin:/bin');
    await sandbox.call('POST', '/api/slipway/secrets', { variables: { PATH: '/nowhere' }, git: [] });
    const app = await done([{ text: 'Nothing to do.' }]);
    const offered = (
      model.requests.at(-1)?.body as undefined | { tools: Array<{ function: { name: string } }> }
    )?.tools.map((tool) => tool.function.name);
    expect(offered).toContain('terminal');
    expect(offered).not.toContain('execute_ipython_cell');
    expect(offered?.filter((name) => name.startsWith('browser_'))).toEqual([]);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('its Python has no ipykernel');
    for (const option of ['ipython', 'browser'])
      expect(promptOf(app).match(new RegExp(`image with the option \`${option}\``, 'g'))).toHaveLength(1);
    await app.close();
    await sandbox.close();
  });

  it('merge a draft into a file with the model of the conversation, which counts the call apart', async () => {
    await begin(process.env['PATH'] ?? '');
    const file = path.join(sandbox.workspace, 'list.txt');
    await writeFile(file, 'one\ntwo\nthree\n');
    const app = await done([
      call('edit_file', { path: file, content: '... existing code ...\nTWO\n... existing code ...', start: 1, end: 3 }),
      { text: '```\none\nTWO\nthree\n```' },
      { text: 'Done.' },
    ]);
    expect(readFileSync(file, 'utf8')).toBe('one\nTWO\nthree\n');
    expect(app.events.find((event) => event.kind === 'ObservationEvent')).toMatchObject({
      tool_name: 'edit_file',
      observation: {
        kind: 'FileEditObservation',
        is_error: false,
        path: file,
        old_content: 'one\ntwo\nthree',
        new_content: 'one\nTWO\nthree',
      },
    });
    const stats = app.events.findLast(
      (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'stats',
    );
    expect(stats).toMatchObject({ value: { usage_to_metrics: { agent: {}, edit: {} } } });
    await app.close();
    await sandbox.close();
  });

  itUnless('missing' in python ? python.missing : false)(
    'hide secrets in every text that they answer with',
    async () => {
      await begin(`${'missing' in python ? '' : path.dirname(python.program('python'))}:${process.env['PATH']}`);
      expect((await sandbox.call('POST', '/api/slipway/secrets', { variables: { SECRET }, git: [] })).status).toBe(200);
      await writeFile(path.join(sandbox.workspace, `${SECRET}.txt`), `one\nkey=${SECRET}\n`);
      const app = await done([
        call('grep', { pattern: 'key=' }),
        call('glob', { pattern: '*.txt' }),
        call('list_directory', {}),
        call('apply_patch', {
          patch: `*** Begin Patch\n*** Update File: ${SECRET}.txt\n@@\n one\n-key=${SECRET}\n+key=other ${SECRET}\n*** End Patch`,
        }),
        call('file_editor', { command: 'view', path: path.join(sandbox.workspace, `${SECRET}.txt`) }),
        call('execute_ipython_cell', {
          code: 'import os\nprint(os.environ["SECRET"])\nraise ValueError(os.environ["SECRET"])',
        }),
        call('terminal', { command: 'echo $SECRET', session: 'second' }),
        { text: 'Done.' },
      ]);
      expect(JSON.stringify(app.events)).not.toContain(SECRET);
      expect(promptOf(app)).not.toContain('ipykernel');
      const said = app.events.flatMap((event) =>
        event.kind === 'ObservationEvent' ? [textOfContent(event.observation.content)] : [],
      );
      expect(said).toHaveLength(7);
      for (const text of said) expect(text).toContain('<secret:SECRET>');
      await app.close();
      await sandbox.close();
    },
  );
});
