import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunCommandResponse } from '@slipway/contracts/actions';
import { until } from '@slipway/testing';
import { processRow } from '../process/process-table.js';
import { type RunningServer, startActionServer, TOKEN } from '../testing/running-server.js';

describe('action-server over HTTP', () => {
  let server: RunningServer;
  const execute = async (body: Record<string, unknown>, signal?: AbortSignal): Promise<RunCommandResponse> => {
    const response = await server.send(
      'POST',
      '/bash/execute',
      JSON.stringify({ timeout: 20, ...body }),
      signal === undefined ? {} : { signal },
    );
    return RunCommandResponse.parse(await response.json());
  };
  const rss = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1]) / 1024;
  const at = (name: string): string => path.join(server.workspace, name);
  const code = async (response: Promise<Response>): Promise<unknown> =>
    ((await (await response).json()) as { code?: string }).code;
  beforeAll(async () => {
    server = await startActionServer();
  });
  afterAll(() => server.close());

  it('answers /alive and /ready to anybody, and anything else only with the token', async () => {
    for (const open of ['alive', 'ready']) expect((await fetch(`${server.url}/${open}`)).status).toBe(200);
    for (const headers of [
      {},
      { 'x-session-api-key': 'wrong' },
      { 'x-session-api-key': `${'a-token-for-tests-of-32-characters'}x` },
    ]) {
      const response = await fetch(`${server.url}/bash/execute`, { method: 'POST', headers, body: '{}' });
      expect([response.status, await response.json()]).toEqual([
        401,
        expect.objectContaining({ code: 'auth.missing' }),
      ]);
    }
  });

  it('answers bad input with a problem, and goes on', async () => {
    expect(await code(server.send('POST', '/bash/execute', 'not json'))).toBe('request.not-json');
    expect(await code(server.send('POST', '/bash/execute', '{}'))).toBe('request.invalid');
    expect(
      await code(server.send('POST', '/execute_action', JSON.stringify({ action: { kind: 'NoSuchAction' } }))),
    ).toBe('request.invalid');
    expect(await code(server.send('GET', '/nowhere'))).toBe('resource.not-found');
    expect(await code(server.send('GET', '/__proto__'))).toBe('resource.not-found');
    expect(await code(server.send('GET', '/file/download'))).toBe('request.invalid');
    expect(
      await code(
        server
          .send('POST', '/execute_action', Buffer.alloc(33 * 1024 * 1024, 'x'))
          .catch(() => new Response('{"code":"request.too-large"}')),
      ),
    ).toBe('request.too-large');
    expect((await fetch(`${server.url}/alive`)).status).toBe(200);
  });

  it('runs a command with its exit code, both streams, directory and environment', async () => {
    mkdirSync(at('folder'), { recursive: true });
    expect(
      await execute({ command: 'echo "$X $PWD"; echo bad >&2; exit 9', cwd: at('folder'), env: { X: 'y' } }),
    ).toMatchObject({
      exitCode: 9,
      stdout: `y ${at('folder')}\n`,
      stderr: 'bad\n',
      timedOut: false,
    });
    expect(await execute({ command: 'kill -9 $$' })).toMatchObject({ exitCode: 137 });
    expect(
      await code(
        server.send('POST', '/bash/execute', JSON.stringify({ command: 'true', timeout: 1, cwd: at('nowhere') })),
      ),
    ).toBe('file.not-found');
  });

  it('keeps the last MiB of an output of 100 MB, and its memory', async () => {
    const before = rss();
    const { stdout } = await execute({ command: "yes 'é' | head -c 99999999; echo; echo end" });
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(1024 * 1024);
    expect(stdout.endsWith('end\n')).toBe(true);
    expect(stdout.startsWith('\ufffd')).toBe(false);
    expect(rss() - before).toBeLessThan(60);
  });

  it('kills the whole group at the timeout, also what ignores TERM', async () => {
    const result = await execute({
      command: `trap '' TERM; sleep 1000 & echo $! > child; echo out; sleep 1000`,
      timeout: 1,
    });
    expect(result).toMatchObject({ exitCode: -1, timedOut: true, stdout: 'out\n' });
    expect(result.elapsedMs).toBeLessThan(15_000);
    const pid = Number(readFileSync(at('child'), 'utf8'));
    await until('the child is gone', () => processRow(pid) === undefined);
  });

  it('kills the group when the request is closed', async () => {
    const abort = new AbortController();
    const request = execute({ command: 'sleep 1000 & echo $! > closed; wait' }, abort.signal).catch(() => 'closed');
    const pid = await until('it runs', () => existsSync(at('closed')) && Number(readFileSync(at('closed'), 'utf8')));
    abort.abort();
    expect(await request).toBe('closed');
    await until('the child is gone', () => processRow(pid) === undefined);
  });

  it('answers when the command has ended, though something in the background holds its output, and lets that live', async () => {
    const result = await execute({
      command: 'echo started; (while :; do echo tick; sleep 0.05; done) & echo $! > left',
      timeout: 60,
    });
    expect(result.elapsedMs).toBeLessThan(15_000);
    const pid = Number(readFileSync(at('left'), 'utf8'));
    const started = performance.now();
    await until('some time has passed', () => performance.now() - started > 300);
    expect(processRow(pid)).toBeDefined();
    process.kill(pid, 'SIGKILL');
  });

  it('has /workspace for the workspace, wherever that is: for files and for commands alike', async () => {
    const upload = await server.send('POST', '/file/upload?path=/workspace/project/cloud.txt', 'from a client');
    expect([upload.status, readFileSync(at('project/cloud.txt'), 'utf8')]).toEqual([200, 'from a client']);
    expect(await (await server.send('GET', '/file/download?path=/workspace/project/cloud.txt')).text()).toBe(
      'from a client',
    );
    expect((await execute({ command: 'cat cloud.txt', cwd: '/workspace/project' })).stdout).toBe('from a client');
    expect((await execute({ command: 'pwd', cwd: '/workspace' })).stdout.trim()).toBe(server.workspace);
    for (const path of ['/workspace/../etc/passwd', '/workspace/project/../../../etc/passwd', '/workspaces/x'])
      expect([path, await code(server.send('GET', `/file/download?path=${encodeURIComponent(path)}`))]).toEqual([
        path,
        'file.outside-workspace',
      ]);
  });

  it('breaks a download off when the file becomes shorter meanwhile, so that a part never passes for the whole', async () => {
    writeFileSync(at('shrinks.bin'), '');
    truncateSync(at('shrinks.bin'), 200_000_000);
    const download = await server.send('GET', '/file/download?path=shrinks.bin');
    truncateSync(at('shrinks.bin'), 0);
    await expect(download.arrayBuffer()).rejects.toThrow(/terminated/);
  });

  it('takes an upload as a body or as a form, whole or not at all, and gives it back byte for byte', async () => {
    const bytes = randomBytes(3_000_000);
    expect(await (await server.send('POST', '/file/upload?path=up/raw.bin', bytes)).json()).toMatchObject({
      sizeBytes: bytes.length,
    });
    const form = new FormData();
    form.append('other', 'passed over');
    form.append('file', new Blob([bytes, '\r\n--', bytes]), 'name.bin');
    const response = await fetch(`${server.url}/file/upload?path=up/form.bin`, {
      method: 'POST',
      headers: { 'x-session-api-key': 'a-token-for-tests-of-32-characters' },
      body: form,
    });
    expect(response.status).toBe(200);
    const download = await server.send('GET', '/file/download?path=up/form.bin');
    expect(download.headers.get('content-length')).toBe(String(bytes.length * 2 + 4));
    expect(Buffer.from(await download.arrayBuffer()).equals(Buffer.concat([bytes, Buffer.from('\r\n--'), bytes]))).toBe(
      true,
    );
    const cut = await server.send(
      'POST',
      '/file/upload?path=up/cut.bin',
      '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nhalf',
      {
        headers: {
          'x-session-api-key': 'a-token-for-tests-of-32-characters',
          'content-type': 'multipart/form-data; boundary=b',
        },
      },
    );
    expect([cut.status, existsSync(at('up/cut.bin'))]).toEqual([400, false]);
  });

  it('leaves nothing of an upload that breaks off, and what was there before', async () => {
    mkdirSync(at('broken'), { recursive: true });
    writeFileSync(at('broken/kept.bin'), 'as it was');
    for (const type of ['application/octet-stream', 'multipart/form-data; boundary=b']) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write(
        `POST /file/upload?path=broken/kept.bin HTTP/1.1\r\nhost: x\r\nx-session-api-key: ${TOKEN}\r\ncontent-type: ${type}\r\ncontent-length: 1000000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n${'x'.repeat(100_000)}`,
      );
      await until('it has begun', () => readdirSync(at('broken')).length === 2);
      socket.destroy();
      await until('it is gone', () => readdirSync(at('broken')).length === 1);
      expect(readFileSync(at('broken/kept.bin'), 'utf8')).toBe('as it was');
    }
  });

  it('holds file routes inside the workspace, whatever the links', async () => {
    symlinkSync('/etc', at('out'));
    symlinkSync('/tmp/slipway-dangling-target', at('dangling'));
    for (const bad of ['/etc/passwd', '../state/action-server.json', 'out/passwd', 'a/../../x'])
      expect([bad, await code(server.send('GET', `/file/download?path=${encodeURIComponent(bad)}`))]).toEqual([
        bad,
        'file.outside-workspace',
      ]);
    expect(await code(server.send('POST', '/file/upload?path=out/x', 'x'))).toBe('file.outside-workspace');
    await server.send('POST', '/file/upload?path=dangling', 'x');
    expect(existsSync('/tmp/slipway-dangling-target')).toBe(false);
    expect(await code(server.send('GET', '/file/download?path=missing'))).toBe('file.not-found');
    expect(await code(server.send('GET', '/file/download?path=.'))).toBe('file.not-found');
    execFileSync('mkfifo', [at('pipe')]);
    expect(await code(server.send('GET', '/file/download?path=pipe'))).toBe('file.not-found');
  });

  it('makes directories and lists them in pages', async () => {
    for (const name of ['dirs/a', 'dirs/b', 'dirs/c', 'dirs/.hidden'])
      expect((await server.send('POST', `/file/create_directory?path=${name}`)).status).toBe(200);
    writeFileSync(at('dirs/file'), '');
    const page = (more: string): Promise<unknown> =>
      server.send('GET', `/file/search_subdirs?path=dirs${more}`).then((response) => response.json());
    expect(await page('&limit=2')).toEqual({
      items: [
        { name: 'a', path: at('dirs/a') },
        { name: 'b', path: at('dirs/b') },
      ],
      next_page_id: 'b',
    });
    expect(await page('&limit=2&page_id=b')).toEqual({
      items: [{ name: 'c', path: at('dirs/c') }],
      next_page_id: null,
    });
    expect(await page('&include_hidden=true')).toMatchObject({ items: { length: 4 } });
  });

  it('says where it listens in a file that is never half written', () => {
    expect(JSON.parse(readFileSync(path.join(server.stateDirectory, 'action-server.json'), 'utf8'))).toEqual({
      port: Number(new URL(server.url).port),
      pid: server.process.pid,
    });
  });
});
