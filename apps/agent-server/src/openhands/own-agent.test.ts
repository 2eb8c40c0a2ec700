import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { byAnswersSoFar, type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const run = promisify(execFile);
const KEY = 'sk-of-the-app-0123456789';
const SECRET = 'a-value-of-the-app-4711';

describe('a client that brings its own agent', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  let folder: string;
  const ofApp = randomUUID();
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-own-agent-'));
    [sandbox, model, app] = await Promise.all([
      TestSandbox.start(),
      startModelServer({ script: [], apiKey: KEY }),
      new TestApp().start(),
    ]);
  });
  afterAll(async () => {
    await sandbox?.close();
    await model?.close();
    await app?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (llm: object, more: object = {}) =>
    sandbox.call<ConversationInfo>('POST', '/api/conversations', {
      agent: { llm },
      workspace: { working_dir: sandbox.workspace },
      ...more,
    });
  const message = (text: string) => ({ content: [{ type: 'text', text }], run: true });
  const rests = (id: string) =>
    until('the end of the run', async () => {
      const { execution_status } = (await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`)).body;
      return ['finished', 'error', 'stuck'].includes(execution_status) ? execution_status : null;
    });
  const eventsOf = async (id: string): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${id}/events/search?limit=100`)).body
      .items;

  it('gets no model where the app has started nothing', async () => {
    const { body } = await sandbox.call<object>('GET', '/api/settings');
    expect(body).toMatchObject({
      llm_api_key_is_set: false,
      active_profile: null,
      agent_settings: { agent_kind: 'openhands', mcp_config: {} },
    });
    expect(JSON.stringify(body)).not.toContain('"llm":');
  });

  it('works with the app’s model without its key, which is good for its own address alone and comes out nowhere', async () => {
    model.use(byAnswersSoFar([{ toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }]));
    const slipway = { epoch: 1, ingestUrl: app.url, ingestToken: 'the-token-of-the-ingest', head: 0, resumeRun: false };
    expect(
      (
        await start(
          { model: 'openai/of-the-app', api_key: KEY, base_url: model.url },
          { conversation_id: ofApp, slipway },
        )
      ).status,
    ).toBe(201);
    const settings = (await sandbox.call<{ agent_settings: { llm: object } }>('GET', '/api/settings')).body;
    expect(settings).toMatchObject({
      llm_api_key_is_set: true,
      agent_settings: { llm: { model: 'openai/of-the-app', base_url: model.url } },
    });
    for (const llm of [settings.agent_settings.llm, { model: 'openai/of-the-app' }]) {
      const { body } = await start(llm, { initial_message: message('Go.') });
      expect(await rests(body.id)).toBe('finished');
      expect(JSON.stringify(body)).not.toContain(KEY);
    }
    // Elsewhere it is none.
    const elsewhere = await startModelServer({ script: [{ text: 'x' }] });
    try {
      const { body } = await start(
        { model: 'openai/x', base_url: elsewhere.url, num_retries: 0 },
        { initial_message: message('Go.') },
      );
      await until('a question to the model', () => Promise.resolve(elsewhere.requests.length > 0));
      expect(JSON.stringify(elsewhere.requests[0]?.headers)).not.toContain(KEY);
      await rests(body.id);
    } finally {
      await elsewhere.close();
    }
    expect(JSON.stringify(settings)).not.toContain(KEY);
    expect(JSON.stringify(sandbox.lines)).not.toContain(KEY);
  });

  it('speaks of secrets by name, gives them to commands under other names, and reads none', async () => {
    const given = {
      variables: { API_TOKEN: SECRET },
      git: [{ name: 'OF_GIT', host: 'git.example', username: 'u', password: 'a-password-of-git' }],
    };
    expect((await sandbox.call('POST', '/api/slipway/secrets', given)).status).toBe(200);
    expect((await sandbox.call('GET', '/api/settings/secrets')).body).toEqual({
      secrets: [{ name: 'API_TOKEN', description: null }],
    });
    const read = await sandbox.call<{ code: string }>('GET', '/api/settings/secrets/API_TOKEN');
    expect([read.status, read.body.code]).toEqual([403, 'secret.not-readable']);
    for (const name of ['OF_GIT', 'toString', '__proto__'])
      expect((await sandbox.call('GET', `/api/settings/secrets/${name}`)).status).toBe(404);
    const { id } = (await start({ model: 'openai/none', base_url: 'http://127.0.0.1:9/v1' })).body;
    const hand = (secrets: object) =>
      sandbox.call<{ detail?: string }>('POST', `/api/conversations/${id}/secrets`, { secrets });
    const lookup = (url: string) => ({
      kind: 'LookupSecret',
      url,
      headers: { 'X-Session-API-Key': sandbox.sessionKey },
    });
    const ofCloud = (conversation: string) =>
      lookup(`http://127.0.0.1:9/api/v1/sandboxes/${conversation}/settings/secrets/API_TOKEN`);
    expect(
      (await hand({ HERE: lookup(`${sandbox.url}/api/settings/secrets/API_TOKEN`), CLOUD: ofCloud(ofApp) })).status,
    ).toBe(200);
    const command = 'echo "$HERE $CLOUD"; test "$HERE" = "$API_TOKEN" && test "$CLOUD" = "$API_TOKEN"; echo $?';
    expect(
      (await sandbox.call<{ stdout: string }>('POST', '/api/bash/execute_bash_command', { command, timeout: 20 })).body
        .stdout,
    ).toMatch(/^<secret:\w+> <secret:\w+>\n0\n$/);
    // Of a conversation that is not here it is asked for where it is said to be.
    expect((await hand({ FOREIGN: ofCloud(randomUUID()) })).body.detail).toContain('127.0.0.1:9');
    // The host must be this one.
    expect(
      (await hand({ FOREIGN: lookup('http://127.0.0.1:9/api/settings/secrets/API_TOKEN') })).body.detail,
    ).toContain('127.0.0.1:9');
  });

  it('goes back to an event: the model forgets what came after, the log does not, and a step is never torn', async () => {
    const turns = ['one', 'two', 'three'].map((word) => ({
      toolCalls: [
        { name: 'terminal', arguments: { command: `echo ${word}` } },
        { name: 'think', arguments: { thought: word } },
      ],
    }));
    model.use(byAnswersSoFar([...turns, { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }]));
    const { id } = (await start({ model: 'openai/of-the-app' }, { initial_message: message('Count.') })).body;
    expect(await rests(id)).toBe('finished');
    const before = await eventsOf(id);
    const actions = before.filter((event) => event.kind === 'ActionEvent');
    const back = (event_id: string | null) =>
      sandbox.call<ConversationInfo & { code?: string }>('POST', `/api/conversations/${id}/navigate`, { event_id });
    expect((await back(randomUUID())).status).toBe(404);
    expect((await back(actions[0]?.id ?? '')).status).toBe(200);
    const after = await eventsOf(id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ kind: 'Condensation', source: 'user' });
    expect((await back(actions[4]?.id ?? '')).body.code).toBe('conversation.forgotten');
    await sandbox.call('POST', `/api/conversations/${id}/events`, { role: 'user', ...message('Go on.') });
    await until(
      'the new answer',
      async () => (await eventsOf(id)).filter(({ kind }) => kind === 'ActionEvent').length > actions.length,
    );
    await rests(id);
    const sent = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(sent).toContain('echo one');
    expect(sent).not.toContain('interrupted');
    const first = model.requests.find(({ raw }) => raw.toString().includes('Go on.'));
    expect(first?.raw.toString()).not.toContain('echo two');
    expect((await back(null)).status).toBe(200);
    model.use([{ text: 'Good day.' }]);
    const count = model.requests.length;
    await sandbox.call('POST', `/api/conversations/${id}/events`, { role: 'user', ...message('Anew.') });
    await until('a question to the model', () => Promise.resolve(model.requests.length > count));
    const anew = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(anew).toContain('Anew.');
    expect(anew).not.toContain('Count.');
  });

  it('is answered at once when a large body is refused, also where another process refuses it', async () => {
    for (const route of ['/api/file/upload', '/api/file/create_directory', '/api/conversations'])
      for (const bytes of [3, 12]) {
        const headers = { 'x-session-api-key': sandbox.sessionKey, 'content-type': 'application/json' };
        const body = 'x'.repeat(bytes * 1024 * 1024);
        const { status } = await fetch(`${sandbox.url}${route}`, {
          method: 'POST',
          headers,
          body,
          signal: AbortSignal.timeout(10_000),
        });
        expect([route, bytes, status]).toEqual([route, bytes, route === '/api/conversations' ? 413 : 400]);
      }
  });

  it('takes the log, the files and what they are changed by with it', async () => {
    const fetched = async (route: string, file: string): Promise<Response> => {
      const response = await fetch(`${sandbox.url}${route}`, { headers: { 'x-session-api-key': sandbox.sessionKey } });
      await writeFile(path.join(folder, file), Buffer.from(await response.clone().arrayBuffer()));
      return response;
    };
    const { id } = (await start({ model: 'openai/none', base_url: 'http://127.0.0.1:9/v1' })).body;
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'ünïcode' }],
    });
    const events = await eventsOf(id);
    for (const route of [
      `/api/file/download-trajectory/${id}`,
      `/api/conversations/${id}/file/download-trajectory/${id}`,
    ]) {
      expect((await fetched(route, 'log.zip')).headers.get('content-type')).toBe('application/zip');
      const listing =
        'import json,sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(json.dumps([z.testzip(), {n: json.loads(z.read(n)) for n in z.namelist()}]))';
      const [broken, members] = JSON.parse(
        (await run('python3', ['-c', listing, path.join(folder, 'log.zip')])).stdout,
      ) as [unknown, Record<string, { id: string }>];
      expect(broken).toBeNull();
      expect(Object.keys(members)[0]).toBe('meta.json');
      expect(Object.values(members).slice(1)).toEqual(events);
    }
    expect((await fetched(`/api/file/download-trajectory/${randomUUID()}`, 'none')).status).toBe(404);

    const project = path.join(sandbox.workspace, 'project');
    await mkdir(path.join(project, 'node_modules'), { recursive: true });
    await mkdir(path.join(project, 'docs'));
    await writeFile(path.join(project, 'node_modules/heavy.js'), 'x');
    await writeFile(path.join(project, 'docs/index.html'), '<script>alert(1)</script>');
    await writeFile(path.join(project, 'kept ü.txt'), 'one\n');
    await symlink('/etc/passwd', path.join(project, 'link'));
    await writeFile(path.join(sandbox.workspace, 'beside.txt'), 'beside');
    const unpacked = async (query: string): Promise<string[]> => {
      expect(
        (await fetched(`/api/file/archive?path=${encodeURIComponent(project)}&format=tar.gz${query}`, 'files.tgz'))
          .status,
      ).toBe(200);
      const into = await mkdtemp(path.join(folder, 'unpacked-'));
      await run('tar', ['-xzf', path.join(folder, 'files.tgz'), '-C', into]);
      if (query === '') expect((await lstat(path.join(into, 'link'))).isSymbolicLink()).toBe(true);
      return (await readdir(into)).sort();
    };
    expect(await unpacked('')).toEqual(['docs', 'kept ü.txt', 'link']);
    expect(await unpacked('&use_default_excludes=false&exclude=link&exclude=docs')).toEqual([
      'kept ü.txt',
      'node_modules',
    ]);
    for (const wrong of [
      '/etc',
      path.join(sandbox.workspace, '..'),
      path.join(project, 'kept ü.txt'),
      `${sandbox.workspace}/none`,
    ])
      expect(
        (await fetched(`/api/file/archive?path=${encodeURIComponent(wrong)}&format=tar.gz`, 'none')).status,
      ).toBeGreaterThanOrEqual(400);
    expect((await fetched(`/api/file/archive?path=${encodeURIComponent(project)}&format=rar`, 'none')).status).toBe(
      400,
    );

    const git = (...args: string[]) =>
      run('git', ['-C', project, '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args]);
    await git('init', '-q', '-b', 'main');
    await git('add', 'docs', 'kept ü.txt');
    await git('commit', '-qm', 'first');
    await writeFile(path.join(project, 'kept ü.txt'), 'one\ntwo\n');
    expect((await fetched(`/api/file/archive?path=${encodeURIComponent(project)}`, 'changes.patch')).status).toBe(200);
    await git('checkout', '-q', '--', 'kept ü.txt');
    await git('apply', '--include=kept*', path.join(folder, 'changes.patch'));
    expect(await readFile(path.join(project, 'kept ü.txt'), 'utf8')).toBe('one\ntwo\n');

    const page = await fetched(`/api/conversations/${id}/workspace/project/docs/index.html`, 'page');
    expect([page.status, page.headers.get('content-disposition')]).toEqual([
      200,
      expect.stringContaining('attachment'),
    ]);
    expect(await page.text()).toBe('<script>alert(1)</script>');
    await writeFile(path.join(sandbox.workspace, 'index.html'), 'the first page');
    expect(await (await fetched(`/api/conversations/${id}/workspace/`, 'page')).text()).toBe('the first page');
    const answers: Record<string, number> = {
      '..%2f..%2fetc%2fpasswd': 403,
      'project/link': 403,
      none: 404,
      project: 404,
      'project/': 404,
    };
    for (const [wrong, status] of Object.entries(answers))
      expect([wrong, (await fetched(`/api/conversations/${id}/workspace/${wrong}`, 'page')).status]).toEqual([
        wrong,
        status,
      ]);
  });
});
