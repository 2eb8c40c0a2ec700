import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSampleRepository, type GitServer, startGitServer, until } from '@slipway/testing';
import { type Harness, openHarness } from '../testing/harness.js';
import { quote, repositoryName } from './workspace-script.js';

describe('workspace of a repository', () => {
  let harness: Harness;
  let git: GitServer;
  let directory: string;
  let commit: string;
  const failureOf = async (repository: string, branch?: string) => {
    const { id } = await harness.create({ repository, ...(branch === undefined ? {} : { branch }) });
    await harness.start(id);
    return (await harness.row(id)).steps.find((step) => step.status === 'ERROR');
  };
  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-git-'));
    commit = await createSampleRepository(directory, 'plain.git', { 'README.md': 'hello\n' });
    await createSampleRepository(directory, 'secret.git', { 'README.md': 'hello\n' });
    await createSampleRepository(directory, 'rich.git', {
      'AGENTS.md': 'Be kind.\n',
      '.openhands/setup.sh': 'echo made > made.txt; echo once >> count.txt; echo installed 3 things\n',
      '.openhands/pre-commit.sh': 'test ! -e forbidden.txt\n',
      '.openhands/skills/a.md': 'Skill A\n',
      '.agents/skills/b/SKILL.md': 'x'.repeat(60_000),
    });
    await createSampleRepository(directory, 'bad-setup.git', {
      '.openhands/setup.sh': 'echo working; echo broken >&2; exit 7\n',
    });
    await createSampleRepository(directory, 'slow-setup.git', { '.openhands/setup.sh': 'echo begun; sleep 60\n' });
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`${index}.txt`, randomBytes(40_000).toString('base64')]),
    );
    await createSampleRepository(directory, 'large.git', files);
    git = await startGitServer(directory, { privateNames: ['secret.git'] });
    harness = await openHarness({ setupTimeoutSeconds: 1 });
  });
  afterAll(async () => {
    await harness.close();
    await git.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is a clone of the branch, with the commit that the work begins from', async () => {
    const { id } = await harness.create({ repository: `${git.url}/plain.git`, branch: 'main' });
    await harness.start(id);
    const row = await harness.row(id);
    expect({ start: row.startStatus, base: row.baseCommit, name: path.basename(row.workingDir ?? '') }).toEqual({
      start: 'READY',
      base: commit,
      name: 'plain',
    });
    expect(await readFile(path.join(row.workingDir ?? '', 'README.md'), 'utf8')).toBe('hello\n');
    expect(harness.peers.requests.filter((request) => request.includes('bash'))).toHaveLength(1);
  });

  it('has the newest part of the history, and gets the older part and other branches on request', async () => {
    const bare = path.join(directory, 'plain.git');
    const made = path.join(directory, 'long');
    const run = (cwd: string, ...args: string[]): string =>
      execFileSync('git', ['-C', cwd, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim();
    execFileSync('git', ['clone', '-q', '--bare', bare, `${made}.git`]);
    execFileSync('git', ['clone', '-q', `${made}.git`, made]);
    run(made, 'push', '-q', 'origin', 'HEAD:other');
    for (let index = 0; index < 60; index += 1) run(made, 'commit', '-q', '--allow-empty', '-m', `c${index}`);
    run(made, 'push', '-q', 'origin', 'HEAD');
    const { id } = await harness.create({ repository: `${git.url}/long.git` });
    await harness.start(id);
    const workspace = (await harness.row(id)).workingDir ?? '';
    expect([run(workspace, 'rev-list', '--count', 'HEAD'), run(workspace, 'log', '-1', '--format=%s')]).toEqual([
      '50',
      'c59',
    ]);
    // Not synchronously: the server is this process.
    await promisify(execFile)('git', ['-C', workspace, 'fetch', '-q', '--unshallow']);
    expect([run(workspace, 'rev-list', '--count', 'HEAD'), run(workspace, 'rev-parse', 'origin/other')]).toEqual([
      '61',
      commit,
    ]);
  });

  it('is set up once, with its hook installed and its skills given to the agent within their bound', async () => {
    const { id } = await harness.create({ repository: `${git.url}/rich.git` });
    await harness.start(id);
    const row = await harness.row(id);
    const workspace = row.workingDir ?? '';
    expect(row.steps.map((step) => [step.status, step.state])).toEqual(
      [
        'WORKING',
        'WAITING_FOR_SANDBOX',
        'PREPARING_REPOSITORY',
        'RUNNING_SETUP_SCRIPT',
        'SETTING_UP_GIT_HOOKS',
        'SETTING_UP_SKILLS',
        'STARTING_CONVERSATION',
        'READY',
      ].map((status) => [status, 'done']),
    );
    // A script that went well says what it did, too.
    expect(row.steps.find((step) => step.status === 'RUNNING_SETUP_SCRIPT')?.detail).toBe('installed 3 things');
    const suffix = harness.peers.sessions.get(id)?.sandbox?.conversation?.suffix ?? '';
    expect(suffix).toContain('Be kind.');
    expect(suffix).toContain('Skill A');
    expect(suffix.length).toBeLessThan(52_000);
    await writeFile(path.join(workspace, 'forbidden.txt'), '');
    expect(() =>
      execFileSync('git', ['-C', workspace, 'commit', '--allow-empty', '-m', 'no'], { stdio: 'ignore' }),
    ).toThrow();
    await rm(path.join(workspace, 'forbidden.txt'));
    execFileSync('git', ['-C', workspace, 'commit', '--allow-empty', '-m', 'yes'], { stdio: 'ignore' });
    harness.peers.loseSandbox(id);
    await harness.send(id, 'again');
    await harness.start(id);
    const after = await harness.row(id);
    expect({ attempt: after.attempt, base: after.baseCommit }).toEqual({ attempt: 2, base: row.baseCommit });
    expect(await readFile(path.join(workspace, 'count.txt'), 'utf8')).toBe('once\n');
    expect(after.steps.find((step) => step.status === 'RUNNING_SETUP_SCRIPT')?.state).toBe('skipped');
  });

  it('that does not exist is repository.not-found', async () => {
    expect(await failureOf(`${git.url}/missing.git`)).toMatchObject({ code: 'repository.not-found', state: 'failed' });
  });

  it('that asks for a password is repository.private, without waiting for one', async () => {
    expect(await failureOf(`${git.url}/secret.git`)).toMatchObject({ code: 'repository.private' });
  });

  it('is repository.not-found, and no empty workspace, where a web server answers with a page; an empty repository is one to work in', async () => {
    const pages = createHttpServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>'),
    );
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    try {
      for (const branch of [undefined, 'main']) {
        const error = await failureOf(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/org/page.git`, branch);
        expect([error?.code, error?.detail]).toEqual([
          'repository.not-found',
          expect.stringContaining('what answers there is no git server'),
        ]);
      }
    } finally {
      pages.closeAllConnections();
      pages.close();
    }
    execFileSync('git', ['init', '-q', '--bare', path.join(directory, 'empty.git')]);
    const { id } = await harness.create({ repository: `${git.url}/empty.git` });
    await harness.start(id);
    expect((await harness.row(id)).startStatus).toBe('READY');
  });

  it('that takes long says how far git is, in a few events', async () => {
    const slow = await slowServer();
    try {
      const { id } = await harness.create({ repository: `${slow.url}/large.git` });
      const started = harness.start(id);
      const detail = async () =>
        (await harness.row(id)).steps.find((step) => step.status === 'PREPARING_REPOSITORY')?.detail ?? '';
      await until('the step says how far it is', async () =>
        /^Receiving objects: \d+% \(\d+\/\d+\)/.test(await detail()),
      );
      slow.goOn();
      await started;
      const said = (await harness.log(id)).filter((event) => JSON.stringify(event).includes('PREPARING_REPOSITORY'));
      expect([(await harness.row(id)).startStatus, said.length < 20]).toEqual(['READY', true]);
    } finally {
      slow.close();
    }
  });

  it('without the branch is repository.branch-not-found, and names it', async () => {
    const step = await failureOf(`${git.url}/plain.git`, 'no-such-branch');
    expect(step).toMatchObject({ code: 'repository.branch-not-found' });
    expect(step?.detail).toContain('no-such-branch');
  });

  it('that comes too slowly is repository.timeout when the time for a clone is over, and is not waited for again', async () => {
    const slow = await slowServer();
    const impatient = await openHarness({ cloneTimeoutSeconds: 2 });
    try {
      const { id } = await impatient.create({ repository: `${slow.url}/large.git` });
      for (let round = 0; round < 2; round += 1) await impatient.start(id);
      const { attempt, steps } = await impatient.row(id);
      expect({ attempt, last: steps.at(-1) }).toMatchObject({
        attempt: 1,
        last: {
          status: 'ERROR',
          code: 'repository.timeout',
          detail: expect.stringMatching(/within 2 s.* git says: Receiving objects: \d+%/),
        },
      });
    } finally {
      await impatient.close();
      slow.close();
    }
  });

  it('whose server says nothing is repository.unreachable when the time for a clone is over, and is tried again', async () => {
    const connections = new Set<Socket>();
    const silent = createServer((socket) => connections.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const impatient = await openHarness({ cloneTimeoutSeconds: 1 });
    try {
      const { id } = await impatient.create({
        repository: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/huge.git`,
      });
      await impatient.start(id);
      const step = (await impatient.row(id)).steps.find(({ status }) => status === 'PREPARING_REPOSITORY');
      expect(step).toMatchObject({
        state: 'running',
        detail: expect.stringMatching(/within 1 s: its git server says nothing.*Trying again/),
      });
    } finally {
      for (const socket of connections) socket.destroy();
      await impatient.close();
      silent.close();
    }
  });

  it('with a setup script that fails is setup.failed, with the end of its output', async () => {
    const step = await failureOf(`${git.url}/bad-setup.git`);
    expect(step).toMatchObject({ code: 'setup.failed' });
    expect(step?.detail).toMatch(/status 7[\s\S]*working[\s\S]*broken/);
  });

  it('whose setup script failed is cloned again by the next start, and never again once an agent has had it', async () => {
    await createSampleRepository(directory, 'corrected.git', { '.openhands/setup.sh': 'exit 7\n' });
    const { id } = await harness.create({ repository: `${git.url}/corrected.git` });
    await harness.start(id);
    await rm(path.join(directory, 'corrected.git'), { recursive: true });
    await createSampleRepository(directory, 'corrected.git', { '.openhands/setup.sh': 'echo set up > made.txt\n' });
    await harness.send(id, 'again');
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    const { startStatus, workingDir } = await harness.row(id);
    expect(startStatus).toBe('READY');
    expect(await readFile(path.join(workingDir ?? '', 'made.txt'), 'utf8')).toBe('set up\n');
    await writeFile(path.join(workingDir ?? '', 'made.txt'), 'changed by the agent\n');
    harness.peers.loseSandbox(id);
    await harness.send(id, 'and again');
    await harness.start(id);
    expect(await readFile(path.join(workingDir ?? '', 'made.txt'), 'utf8')).toBe('changed by the agent\n');
  });

  it('with a setup script that hangs is setup.timeout, and the script is killed', async () => {
    const step = await failureOf(`${git.url}/slow-setup.git`);
    expect(step).toMatchObject({ code: 'setup.timeout' });
    expect(step?.detail).toContain('begun');
  });

  /** Hands on half of the pack of `large.git`, and the other half when allowed. */
  async function slowServer(): Promise<{ readonly url: string; goOn(): void; close(): void }> {
    let goOn = (): void => {};
    const may = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const server = createHttpServer((request, response) => {
      const onward = httpRequest(
        `${git.url}${request.url}`,
        { method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          let bytes = 0;
          answer.on('data', (part: Buffer) => {
            response.write(part);
            bytes += part.length;
            if (bytes < 800_000) return;
            answer.pause();
            void may.then(() => answer.resume());
          });
          answer.on('end', () => response.end());
        },
      );
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = (): void => {
      goOn();
      server.closeAllConnections();
      server.close();
    };
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, goOn: () => goOn(), close };
  }

  it('has a harmless name, whatever the URL says', () => {
    expect(repositoryName('https://host/a/b.git')).toBe('b');
    expect(repositoryName("https://host/a/%2e%2e%2f$(touch x)'")).not.toMatch(/[^A-Za-z0-9._-]/);
    expect(repositoryName('https://host/')).toBe('repository');
    expect(execFileSync('sh', ['-c', `printf %s ${quote(`a'b$(echo c)"\``)}`]).toString()).toBe(`a'b$(echo c)"\``);
  });
});
