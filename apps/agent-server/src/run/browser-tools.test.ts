import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { textOfContent } from '@slipway/contracts/events';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const hasChromium =
  spawnSync('sh', ['-c', 'command -v chromium-headless-shell || command -v chromium || command -v google-chrome'])
    .status === 0;
const SECRET = 'a-secret-value-of-36-characters-long';

describe('the browser in a run of the agent', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let site: Server;
  let url = '';
  const asked: string[] = [];
  const apps: TestApp[] = [];
  beforeAll(async () => {
    site = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/file')
        return void response.setHeader('content-disposition', 'attachment; filename=plan.bin').end('a file');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<title>${SECRET}</title><p>The key is ${SECRET}</p><label>Key <input oninput="fetch('/heard?' + this.value)"></label><button>Send</button>${request.url}`,
      );
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    model = await startModelServer({ script: [] });
    sandbox = await TestSandbox.create();
    sandbox.env = { PATH: process.env['PATH'] ?? '' };
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    expect((await sandbox.activate({})).status).toBe(200);
  });
  afterAll(async () => {
    await sandbox.close();
    await model.close();
    for (const app of apps) await app.close();
    site.closeAllConnections();
    site.close();
  });
  /** What the agent did with these answers of the model, as the app has it. */
  const done = async (script: Parameters<ModelServer['use']>[0], more: object = {}): Promise<TestApp> => {
    const app = await new TestApp().start();
    apps.push(app);
    model.use(script);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/gpt-4.1', base_url: model.url, api_key: 'sk-of-the-model' } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      max_iterations: 20,
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'ingest-token-very-secret',
        head: 0,
        resumeRun: false,
      },
      ...more,
    });
    await sandbox.call('POST', `/api/conversations/${body.id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    await until(
      'the end of the run',
      () => app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished'),
      60_000,
    );
    return app;
  };
  const call = (name: string, args: Record<string, unknown>) => ({ toolCalls: [{ name, arguments: args }] });
  const offered = () =>
    (model.requests.at(-1)?.body as undefined | { tools: Array<{ function: { name: string } }> })?.tools.map(
      (tool) => tool.function.name,
    ) ?? [];

  itUnless(hasChromium ? false : 'no Chromium on the PATH')(
    'is used as the model asks, its picture reaches the model, and no secret leaves it',
    async () => {
      expect((await sandbox.call('POST', '/api/slipway/secrets', { variables: { SECRET }, git: [] })).status).toBe(200);
      const app = await done([
        call('browser_navigate', { url: `${url}/?key=${SECRET}` }),
        call('browser_get_state', { include_screenshot: true }),
        call('browser_type', { index: 0, text: 'typed' }),
        call('browser_type', { index: 0, text: '<secret>SECRET</secret>' }),
        call('browser_click', { index: 77 }),
        call('browser_get_content', {}),
        call('browser_get_storage', {}),
        call('browser_list_tabs', {}),
        { text: 'Done.' },
      ]);
      const observations = app.events.flatMap((event) =>
        event.kind === 'ObservationEvent' ? [event.observation] : [],
      );
      expect(observations.map(({ kind, is_error, error_code }) => [kind, is_error, error_code])).toEqual(
        [undefined, undefined, undefined, undefined, 'browser.element-gone', undefined, undefined, undefined].map(
          (code) => ['BrowserObservation', code !== undefined, code],
        ),
      );
      expect(JSON.stringify(app.events)).not.toContain(SECRET);
      expect(observations[0]?.['page']).toMatchObject({ url: `${url}/?key=<secret:SECRET>`, title: '<secret:SECRET>' });
      expect(textOfContent(observations[1]?.content ?? [])).toContain('[0] textbox "Key"');
      const prompt = JSON.stringify(model.requests.at(-1)?.body);
      expect(prompt).toContain('data:image/jpeg;base64,/9j/');
      expect(prompt).not.toContain(SECRET);
      expect(textOfContent(observations[3]?.content ?? [])).toContain('Typed the secret SECRET into [0] textbox "Key"');
      expect(asked).toContain(`/heard?${SECRET}`);
      expect(offered()).toEqual(
        expect.arrayContaining(['browser_navigate', 'browser_get_state', 'browser_set_storage']),
      );
    },
  );

  itUnless(hasChromium ? false : 'no Chromium on the PATH')(
    'is read-only while the agent plans: pages are read, and nothing is clicked, typed, stored or downloaded',
    async () => {
      const app = await done(
        [
          call('browser_navigate', { url: `${url}/docs` }),
          call('browser_get_state', {}),
          call('browser_click', { index: 1 }),
          call('browser_navigate', { url: `${url}/file` }),
          call('browser_get_content', {}),
          { text: 'Planned.' },
        ],
        { agent_type: 'plan' },
      );
      const seen = [
        'go_back',
        'get_content',
        'get_state',
        'get_storage',
        'list_tabs',
        'navigate',
        'scroll',
        'switch_tab',
      ].map((name) => `browser_${name}`);
      expect(
        offered()
          .filter((name) => name.startsWith('browser_'))
          .sort(),
      ).toEqual(seen.sort());
      const observations = app.events.flatMap((event) =>
        event.kind === 'ObservationEvent' ? [event.observation] : [],
      );
      expect(textOfContent(observations[1]?.content ?? [])).toContain('textbox "Key"');
      expect(app.events.find((event) => event.kind === 'AgentErrorEvent')).toMatchObject({
        error: expect.stringContaining('no tool "browser_click"'),
      });
      expect(asked).toEqual(expect.arrayContaining(['/docs', '/file']));
      expect(observations.map(({ content }) => textOfContent(content)).join('\n')).toContain('which was not taken');
      expect(existsSync(path.join(sandbox.workspace, 'downloads'))).toBe(false);
    },
  );
});
