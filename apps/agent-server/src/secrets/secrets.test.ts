import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BashOutput, type SandboxSecrets } from '@slipway/contracts/agent';
import { textOfContent } from '@slipway/contracts/events';
import {
  createSampleRepository,
  type GitServer,
  type ModelServer,
  startGitServer,
  startModelServer,
  until,
} from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const CANARY = 'canary/value+of "a" secret';
const GIT_PASSWORD = 'secret';
const terminal = (command: string) => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });

/** Empty for a process that has ended meanwhile. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe('secrets that a sandbox was handed', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  let git: GitServer;
  let directory: string;
  const hand = async (secrets: Partial<SandboxSecrets>): Promise<void> => {
    expect((await sandbox.call('POST', '/api/slipway/secrets', { variables: {}, git: [], ...secrets })).status).toBe(
      200,
    );
  };
  const bash = async (command: string): Promise<BashOutput> =>
    (await sandbox.call<BashOutput>('POST', '/api/bash/execute_bash_command', { command, timeout: 20 })).body;

  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    app = await new TestApp().start();
    model = await startModelServer({ script: [] });
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-git-'));
    await createSampleRepository(directory, 'private.git', { 'README.md': 'hello\n' });
    await createSampleRepository(directory, 'other.git', { 'README.md': 'hello\n' });
    execFileSync('git', ['-C', path.join(directory, 'private.git'), 'config', 'http.receivepack', 'true']);
    git = await startGitServer(directory, { privateNames: ['private.git'] });
  });
  afterAll(async () => {
    await sandbox?.close();
    await app?.close();
    await model?.close();
    await git?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('reach commands, and leave in no event, no piece of text, no log line, no file and no argument, however the agent prints them', async () => {
    await hand({ variables: { CANARY } });
    const printing = [
      'echo "$CANARY"',
      'printf %s "$CANARY" | base64 -w0; printf "user:%s" "$CANARY" | base64; printf %s "$CANARY" | od -An -tx1 | tr -d " \\n"',
      'env; cat /proc/self/environ | tr "\\0" "\\n"; ps -eww -o args',
      `node -e 'console.log(encodeURIComponent(process.env.CANARY), JSON.stringify(process.env.CANARY)); throw new Error(process.env.CANARY)'`,
      'for i in 1 2 3; do printf "%s" "$(printf %s "$CANARY" | head -c 9)"; printf "%s\\n" "$(printf %s "$CANARY" | tail -c +10)"; sleep 0.05; done; ls "$CANARY"; false',
    ];
    model.use([...printing.map(terminal), { text: `It is ${CANARY}, you see.` }]);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-of-the-model', num_retries: 2 } },
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
      content: [{ type: 'text', text: `print ${CANARY}` }],
      run: true,
    });
    await until('the end of the run', () =>
      app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished'),
    );
    await until('the last piece of text', () => app.deltas.some(({ text }) => text.includes('you see')));
    const events = JSON.stringify(app.events);
    for (const form of [
      CANARY,
      JSON.stringify(CANARY).slice(1, -1),
      encodeURIComponent(CANARY),
      Buffer.from(CANARY).toString('base64').slice(0, -4),
      Buffer.from(CANARY).toString('hex'),
    ]) {
      expect(events).not.toContain(form);
      expect(events).not.toContain(JSON.stringify(form).slice(1, -1));
      expect(app.deltas.map(({ text }) => text).join('')).not.toContain(form);
      expect(sandbox.lines.join('\n')).not.toContain(form);
      // Conversations, activation, the workspace and the home: what stands in a file may be kept.
      const found = spawnSync('grep', ['-rlF', '--exclude-dir=action-state', '--', form, sandbox.directory], {
        encoding: 'utf8',
      });
      expect([found.status, found.stdout]).toEqual([1, '']);
    }
    const said = app.events.flatMap((event) =>
      event.kind === 'ObservationEvent' ? [textOfContent(event.observation.content)] : [],
    );
    expect(said[0]).toContain('<secret:CANARY>');
    expect(said.slice(0, 5).map((text) => text.includes('<secret:CANARY>'))).toEqual([true, true, true, true, true]);
    expect(JSON.stringify(app.events.at(-1)) + events).toContain('It is <secret:CANARY>, you see.');
  });

  it('leave no part where the output of a command is cut inside a line of over 2,000 characters', async () => {
    const value = 'Qk7-Zx9_Wv4!Jm2';
    await hand({ variables: { CUT_TOKEN: value } });
    // Its end or its beginning is cut off, wherever in the sixteen places of it the cut is.
    const printing = [5, 9].map(
      (into) =>
        `printf '%*s%s%30000s%s%*s' ${14_750 - into} '' "$CUT_TOKEN" '' "$CUT_TOKEN" ${14_750 - value.length + into} ''`,
    );
    model.use([...printing.map(terminal), { text: 'Printed.' }]);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-of-the-model', num_retries: 2 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      initial_message: { role: 'user', content: [{ type: 'text', text: 'print it' }], run: true },
    });
    const events = async (): Promise<{ kind: string; observation?: { content: { text: string }[] } }[]> =>
      (await sandbox.call<{ items: never[] }>('GET', `/api/conversations/${body.id}/events/search?limit=100`)).body
        .items;
    const printed = async (): Promise<string[]> =>
      (await events()).flatMap(({ kind, observation }) =>
        kind === 'ObservationEvent' ? [observation?.content.map(({ text }) => text).join('') ?? ''] : [],
      );
    await until('both commands have printed', async () => (await printed()).length >= 2);
    for (const text of await printed()) {
      expect(text).toContain('characters cut here');
      expect(text.match(/<secret:CUT_TOKEN>/g)).toHaveLength(2);
      for (let at = 0; at + 3 <= value.length; at += 1) expect(text).not.toContain(value.slice(at, at + 3));
    }
  });

  it('are hidden in the changes that people are shown', async () => {
    await hand({ variables: { CANARY } });
    await bash(
      'mkdir -p shown && cd shown && git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x && printf "%s\\n" "$CANARY" > kept.txt',
    );
    const where = encodeURIComponent(path.join(sandbox.workspace, 'shown'));
    const patch = await fetch(`${sandbox.url}/api/git/patch?path=${where}`, {
      headers: { 'x-session-api-key': sandbox.sessionKey },
    });
    expect(await patch.text()).toContain('+<secret:CANARY>\n');
    const diff = await sandbox.call<{ modified: string }>(
      'GET',
      `/api/git/diff?path=${encodeURIComponent(path.join(sandbox.workspace, 'shown/kept.txt'))}`,
    );
    expect(diff.body.modified).toBe('<secret:CANARY>\n');
  });

  it('are replaced as a whole, stay masked, and are there again when the tool process comes back', async () => {
    await hand({ variables: { FIRST: 'first-value-of-it', CANARY } });
    await hand({ variables: { SECOND: 'second-value-of-it' } });
    const seen = async (): Promise<string | null> =>
      (await bash('echo "[$FIRST][$CANARY][$SECOND]" first-value-of-it')).stdout;
    expect(await seen()).toBe('[][][<secret:SECOND>] <secret:FIRST>\n');
    await sandbox.kill('actionServer');
    await sandbox.startActionServer();
    expect(await seen()).toBe('[][][<secret:SECOND>] <secret:FIRST>\n');
  });

  it('let git clone and push at their host alone, and are in no file, no URL and no output of it', async () => {
    const host = new URL(git.url).host;
    // As the start of a conversation clones (apps/worker/src/start/workspace-script.ts).
    const clone = (repository: string, to: string): Promise<BashOutput> =>
      bash(
        `GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= git -c core.askPass= clone -q ${git.url}/${repository} ${to} && echo cloned`,
      );
    await hand({ git: [{ name: 'ELSEWHERE', host: 'git.example', username: 'user', password: GIT_PASSWORD }] });
    expect((await clone('private.git', 'refused')).exit_code).not.toBe(0);
    await hand({ git: [{ name: 'GIT_TOKEN', host, username: 'user', password: GIT_PASSWORD }] });
    expect(await clone('private.git', 'cloned')).toMatchObject({ exit_code: 0, stdout: 'cloned\n' });
    expect((await clone('other.git', 'open')).stdout).toBe('cloned\n');
    const push = await bash(
      'cd cloned && echo more > more.txt && git add . && git -c user.name=x -c user.email=x@y commit -qm more && git push -q origin HEAD && git remote -v && echo pushed',
    );
    expect([push.exit_code, push.stdout]).toEqual([0, expect.stringContaining('pushed')]);
    for (const text of [
      push.stdout ?? '',
      await readFile(path.join(sandbox.workspace, 'cloned/.git/config'), 'utf8'),
    ]) {
      expect(text).not.toContain('user:');
      expect(text).not.toContain(`${GIT_PASSWORD}@`);
    }
    // This one's value is a part of what would stand in its place.
    expect((await bash('env | grep ^SLIPWAY_GIT_PASSWORD')).stdout).toBe('SLIPWAY_GIT_PASSWORD_0=<secret-hidden>\n');
  });

  it('of git are in no argument of a process and nowhere on the disk while a clone runs, nor afterwards', async () => {
    const token = 'token-of-git-that-nobody-else-has-0123456789';
    const asked: string[] = [];
    let released = false;
    // A server that asks for a password, takes it, and keeps git waiting with the credential sent.
    const server = createServer((request, response) => {
      asked.push(request.headers.authorization ?? '');
      if (released) response.writeHead(403).end();
      else if (request.headers.authorization === undefined)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await hand({ git: [{ name: 'GIT_TOKEN', host, username: 'user', password: token }] });
      const cloning = bash(`git -c core.askPass= clone -q http://${host}/x.git held`);
      await until('git shows its token to the server', () => asked.some((proof) => proof !== ''), 30_000);
      expect(Buffer.from(asked.at(-1)?.replace('Basic ', '') ?? '', 'base64').toString()).toBe(`user:${token}`);
      const commandLines = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
      expect(commandLines.some((line) => line.includes(`http://${host}/x.git`))).toBe(true);
      expect(commandLines.filter((line) => line.includes(token))).toEqual([]);
      expect(spawnSync('grep', ['-rlF', '--', token, sandbox.directory], { encoding: 'utf8' }).stdout).toBe('');
      released = true;
      server.closeAllConnections();
      const { stdout, stderr } = await cloning;
      expect(`${stdout} ${stderr}`).not.toContain(token);
      expect(spawnSync('grep', ['-rlF', '--', token, sandbox.directory], { encoding: 'utf8' }).stdout).toBe('');
      expect(sandbox.lines.join('\n')).not.toContain(token);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('are refused without the session key, and only in their form', async () => {
    const open = await fetch(`${sandbox.url}/api/slipway/secrets`, {
      method: 'POST',
      body: JSON.stringify({ variables: {}, git: [] }),
    });
    expect(open.status).toBe(401);
    expect(
      (await sandbox.call('POST', '/api/slipway/secrets', { variables: { 'not a name': 'x' }, git: [] })).status,
    ).toBe(400);
  });
});
