import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, until } from '@slipway/testing';
import { BROKER_SECRET, CONTROL_SECRET, credential, type Origin, TestBroker } from './testing/test-broker.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const HOST = '127.0.0.1.example.com';

describe('the process', () => {
  let world: TestBroker;
  let origin: Origin;
  let child: ChildProcess;
  let exit: Promise<number | null>;
  let health: string;
  let log = '';
  const answers: Array<() => void> = [];
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (request, response) => {
      if (request.url?.startsWith('/slow')) answers.push(() => response.end('at last'));
      else response.end('hello');
    });
    const token = credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] });
    await world.give(token);
    const ports = [await freePort(), await freePort()];
    health = `http://127.0.0.1:${ports[0]}`;
    await writeFile(path.join(world.folder, 'roots.pem'), world.roots.cert);
    const env = {
      ...world.environment(),
      NODE_EXTRA_CA_CERTS: path.join(world.folder, 'roots.pem'),
      PORT: String(ports[0]),
      BROKER_PORT: String(ports[1]),
      METRICS_PORT: '0',
      DRAIN_SECONDS: '1',
    };
    child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    exit = once(child, 'exit').then(([code]) => code as number | null);
    await until('it is ready', async () => (await fetch(`${health}/ready`)).status === 200);
    world.at = { host: '127.0.0.1', port: ports[1] as number };
  });
  afterAll(async () => {
    child?.kill('SIGKILL');
    await world?.close();
  });

  it('refuses a name that no name service knows, in a line of its log without path, query, header or value', async () => {
    expect(
      (await world.ask({ host: HOST, path: '/planted-path?planted-query', headers: { 'x-a': 'planted' } })).status,
    ).toBe(502);
    await until('the log has it', () => log.includes('"verdict":"unresolved"'));
    const line = log.split('\n').find((each) => each.includes('"unresolved"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      claim_id: 'clm_1',
      org_id: 'org_1',
      conversation_id: 'cnv_1',
      host: HOST,
      credential: world.control.credentials[0]?.id,
    });
    for (const secret of ['planted', BROKER_SECRET, CONTROL_SECRET, world.control.credentials[0]?.value ?? ''])
      expect(log).not.toContain(secret);
  });

  it('stops being ready on SIGTERM and ends well', async () => {
    child.kill('SIGTERM');
    await until('it says that it is not ready', async () => (await fetch(`${health}/ready`)).status === 503);
    expect(await exit).toBe(0);
  });

  it('with a wrong configuration does not start, and names the variables without their values', async () => {
    const wrong = spawn(process.execPath, [MAIN], {
      env: { BROKER_SECRET: 'too-short-secret' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [wrong.stdout, wrong.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    const [code] = (await once(wrong, 'close')) as [number];
    expect(code).not.toBe(0);
    for (const name of ['BROKER_SECRET', 'CREDENTIAL_CONTROL_URL', 'BROKER_CA_FILE', 'BROKER_CA_KEY_FILE'])
      expect(text).toContain(name);
    expect(text).not.toContain('too-short-secret');
  });

  it('does not start with a certificate that is not that of its key', async () => {
    const file = path.join(world.folder, 'other.pem');
    await writeFile(file, world.roots.cert);
    const wrong = spawn(process.execPath, [MAIN], {
      env: { ...world.environment(), BROKER_CA_FILE: file, PORT: '0', BROKER_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    wrong.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const [code] = (await once(wrong, 'close')) as [number];
    expect(code).toBe(1);
    expect(text).toContain('BROKER_CA_FILE');
  });
});
