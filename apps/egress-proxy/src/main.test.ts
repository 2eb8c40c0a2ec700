import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EgressCredentials } from '@slipway/auth/egress-credential';
import { createSampleRepository, freePort, type GitServer, startGitServer, until } from '@slipway/testing';
import { basic, CLAIMS, SECRET } from './testing/test-egress.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const run = promisify(execFile);

describe('the process', () => {
  let folder: string;
  let git: GitServer;
  let child: ChildProcess;
  let exit: Promise<number | null>;
  let port: number;
  let health: string;
  let log = '';
  const password = new EgressCredentials(SECRET).sign(CLAIMS);
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-egress-'));
    await createSampleRepository(folder, 'sample.git', { 'README.md': 'hello' });
    git = await startGitServer(folder);
    port = await freePort();
    const healthPort = await freePort();
    health = `http://127.0.0.1:${healthPort}`;
    const env = {
      EGRESS_SECRET: SECRET,
      // An address that is listed with its port: no name service and no port 80 is needed.
      EGRESS_RULES: JSON.stringify({ packageHosts: [git.url.replace('http://', '')] }),
      EGRESS_PERMITTED_RANGES: '127.0.0.1',
      EGRESS_PORT: String(port),
      PORT: String(healthPort),
      METRICS_PORT: '0',
      DRAIN_SECONDS: '1',
    };
    child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    exit = once(child, 'exit').then(([code]) => code as number | null);
    await until('it is ready', async () => (await fetch(`${health}/ready`)).status === 200);
  });
  afterAll(async () => {
    child?.kill('SIGKILL');
    await git?.close();
    await rm(folder, { recursive: true, force: true });
  });
  /** As a sandbox has it, but that nothing is excepted: what it should reach is on loopback here. */
  const environment = (): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    http_proxy: `http://sandbox:${password}@127.0.0.1:${port}`,
    HTTP_PROXY: `http://sandbox:${password}@127.0.0.1:${port}`,
    NODE_USE_ENV_PROXY: '1',
  });

  it('lets git clone and Node fetch by nothing but the environment', async () => {
    await run('git', ['clone', '-q', `${git.url}/sample.git`, path.join(folder, 'clone')], { env: environment() });
    expect((await readFile(path.join(folder, 'clone/README.md'), 'utf8')).length).toBeGreaterThan(0);
    const script = `fetch(${JSON.stringify(`${git.url}/sample.git/info/refs?service=git-upload-pack`)}).then(async (answer) => console.log(answer.status, (await answer.text()).length > 0))`;
    const { stdout } = await run(process.execPath, ['-e', script], { env: environment() });
    expect(stdout.trim()).toBe('200 true');
    await expect(
      run('git', ['clone', '-q', 'http://elsewhere.example/x.git', path.join(folder, 'none')], { env: environment() }),
    ).rejects.toThrow(/403/);
  });

  it('writes who went where and what was refused, and neither credential nor path', async () => {
    await until('the log has all of it', () => log.includes('elsewhere.example') && log.includes('"ended"'));
    const lines = log
      .split('\n')
      .flatMap((line) =>
        line.includes('"egress"') && line.includes('verdict') ? [JSON.parse(line) as Record<string, unknown>] : [],
      );
    const whose = { claim_id: CLAIMS.claim, org_id: CLAIMS.org, template: CLAIMS.template, egress: CLAIMS.egress };
    // git asks plainly, Node for a tunnel.
    for (const kind of ['http', 'connect'])
      expect(lines).toContainEqual(
        expect.objectContaining({ ...whose, kind, host: '127.0.0.1', verdict: 'allowed', address: '127.0.0.1' }),
      );
    expect(lines).toContainEqual(
      expect.objectContaining({ ...whose, host: 'elsewhere.example', port: 80, verdict: 'host' }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({
        ...whose,
        verdict: 'ended',
        bytes_in: expect.any(Number),
        elapsed_ms: expect.any(Number),
      }),
    );
    for (const secret of ['slp_egr_', SECRET, 'git-upload-pack', 'sample.git']) expect(log).not.toContain(secret);
  });

  it('stops being ready on SIGTERM, goes on with what is open, and ends well', async () => {
    const socket = connect(port, '127.0.0.1');
    const target = git.url.replace('http://', '');
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${basic(password)}\r\n\r\n`);
    await once(socket, 'data');
    child.kill('SIGTERM');
    await until('it says that it is not ready', async () => (await fetch(`${health}/ready`)).status === 503);
    await until('it has begun to wait for what is open', () => /stopping/.test(log));
    socket.write(`GET /sample.git/HEAD HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/);
    socket.resume();
    expect(await exit).toBe(0);
  });

  it('with a wrong configuration does not start, and names the variables without their values', async () => {
    const failed = spawn(process.execPath, [MAIN], {
      env: { EGRESS_SECRET: 'too-short-secret' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [failed.stdout, failed.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    const [code] = (await once(failed, 'close')) as [number];
    expect(code).not.toBe(0);
    expect(text).toContain('EGRESS_SECRET');
    expect(text).toContain('EGRESS_RULES');
    expect(text).not.toContain('too-short-secret');
  });
});
