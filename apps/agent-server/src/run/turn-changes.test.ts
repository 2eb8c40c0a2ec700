import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GitChange } from '@slipway/contracts/agent';
import type { GitCommitsPage, GitRepositories } from '@slipway/contracts/repositories';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

describe('changes since the last message', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let id: string;
  let directory: string;
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const get = async <T>(route: string): Promise<T> => (await sandbox.call<T>('GET', route)).body;
  const since = async (): Promise<string[]> =>
    (await get<GitChange[]>(`/api/git/changes?path=${encodeURIComponent(directory)}&turn=${id}`))
      .map(({ status, path: name }) => `${status} ${name}`)
      .sort();
  const say = async (command: string): Promise<void> => {
    const before = model.requests.length;
    model.use([{ toolCalls: [{ name: 'terminal', arguments: { command } }] }, { text: 'Done.' }]);
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    await until(
      'the end of the run',
      async () =>
        model.requests.length >= before + 2 &&
        (await get<{ execution_status: string }>(`/api/conversations/${id}`)).execution_status === 'finished',
      60_000,
    );
  };
  beforeAll(async () => {
    [sandbox, model] = await Promise.all([TestSandbox.start(), startModelServer({ script: [] })]);
    directory = path.join(sandbox.workspace, 'project');
    mkdirSync(directory);
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(directory, 'a.txt'), 'a\n');
    git('add', '-A');
    git('commit', '-qm', 'base');
    id = randomUUID();
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-of-the-model' } },
      workspace: { working_dir: directory, kind: 'LocalWorkspace' },
    });
  });
  afterAll(async () => {
    await sandbox?.close();
    await model?.close();
  });

  it('are those that the agent made for it, not those of before, committed or not', async () => {
    writeFileSync(path.join(directory, 'mine.txt'), 'a person’s own\n');
    await say('echo first > first.txt');
    expect(await since()).toEqual(['ADDED first.txt']);
    await say('git add -A && git -c user.name=x -c user.email=x@y commit -qm second && echo more >> a.txt');
    expect(await since()).toEqual(['UPDATED a.txt']);
    const all = await get<GitChange[]>(`/api/git/changes?path=${encodeURIComponent(directory)}&ref=HEAD~1`);
    expect(all.map(({ path: name }) => name).sort()).toEqual(['a.txt', 'first.txt', 'mine.txt']);
  });

  it('stand beside commits and repositories, by OpenHands’ names', async () => {
    const where = `path=${encodeURIComponent(directory)}`;
    const { commits, has_more } = await get<GitCommitsPage>(`/api/conversations/${id}/git/commits?${where}&limit=1`);
    expect([commits.map(({ subject }) => subject), has_more]).toEqual([['second'], true]);
    const changed = await get<GitChange[]>(`/api/git/commits/${commits[0]?.short_sha}/changes?${where}`);
    expect(changed.map(({ path: name }) => name).sort()).toEqual(['first.txt', 'mine.txt']);
    const { repositories } = await get<GitRepositories>('/api/git/repositories?path=.');
    expect(repositories).toMatchObject([
      { path: 'project', kind: 'repository', branch: 'main', upstream: null, problem: null },
    ]);
    expect(git('for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main');
  });

  it('are taken back by a user while the agent is idle: it finds a line in its log, once, and begins nothing', async () => {
    writeFileSync(path.join(directory, 'a.txt'), 'b\n');
    const asked = model.requests.length;
    const body = {
      path: directory,
      file: 'a.txt',
      status: 'UPDATED',
      hunk: '@@ -1 +1 @@\n-a\n+b\n',
      direction: 'revert',
      event_id: randomUUID(),
      notice: 'Ana took a change back in "a.txt".',
    };
    const turn = (more = {}) =>
      sandbox.call('POST', `/api/slipway/conversations/${id}/turn_hunk`, { ...body, ...more });
    expect(await turn()).toMatchObject({ status: 200 });
    expect(readFileSync(path.join(directory, 'a.txt'), 'utf8')).toBe('a\n');
    expect(await turn()).toMatchObject({ status: 200 });
    expect(await turn({ event_id: randomUUID() })).toMatchObject({ status: 409, body: { code: 'changes.moved' } });
    const { items } = await get<{ items: unknown[] }>(`/api/conversations/${id}/events/search?limit=100`);
    const notices = items.filter((each) => JSON.stringify(each).includes('Ana took'));
    expect(notices).toMatchObject([{ id: body.event_id, kind: 'MessageEvent', source: 'environment' }]);
    expect([await get<{ execution_status: string }>(`/api/conversations/${id}`), model.requests.length]).toMatchObject([
      { execution_status: 'finished' },
      asked,
    ]);
    await say('true');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('Ana took a change back');
    model.use([{ toolCalls: [{ name: 'terminal', arguments: { command: 'sleep 60' } }] }, { text: 'Done.' }]);
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    expect(await turn({ event_id: randomUUID() })).toMatchObject({ status: 409, body: { code: 'conversation.busy' } });
    await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
  });

  it('are not known when the tool process was away as the message came; the message is answered all the same', async () => {
    await sandbox.kill('actionServer');
    model.use([{ text: 'Nothing to do.' }]);
    await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
      run: true,
    });
    await until(
      'the end of the run',
      async () => (await get<{ execution_status: string }>(`/api/conversations/${id}`)).execution_status === 'finished',
      60_000,
    );
    await sandbox.startActionServer();
    const { body } = await until('the tool process is back', async () => {
      const looked = await sandbox.call('GET', `/api/git/changes?path=${encodeURIComponent(directory)}&turn=${id}`);
      return looked.status === 503 ? null : looked;
    });
    expect(body).toMatchObject({ code: 'changes.turn-unknown' });
    await say('true');
    expect(await since()).toEqual([]);
  });
});
