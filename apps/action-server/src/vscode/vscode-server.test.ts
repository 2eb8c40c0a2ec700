import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenVscodeResponse, VscodeStatus } from '@slipway/contracts/sandboxes';
import { freePort, until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { type RunningServer, startActionServer } from '../testing/running-server.js';
import { VscodeServer } from './vscode-server.js';

/**
 * As little of VS Code's server as its starter knows of: it listens at the given address, and shows what it was started
 * with.
 */
const STAND_IN = `
const { readFileSync, appendFileSync } = require('node:fs');
const option = (name) => process.argv[process.argv.indexOf('--' + name) + 1];
const token = readFileSync(option('connection-token-file'), 'utf8');
appendFileSync(__dirname + '/starts', process.pid + '\\n');
console.log('with ' + token);
require('node:http').createServer((request, response) => {
  response.statusCode = request.url === '/version' || request.url.includes('tkn=' + token) ? 200 : 403;
  response.end(process.argv.join(' '));
}).listen(Number(option('port')), option('host'));
`;

describe('VS Code in the sandbox', () => {
  let folder: string;
  const at = (directory: string, port: number): VscodeServer =>
    new VscodeServer({
      directory,
      port,
      stateDirectory: path.join(folder, 'state'),
      environment: new ShellEnvironment({ PATH: process.env['PATH'], HOME: folder }),
    });
  const image = (name: string, program: string): string => {
    mkdirSync(path.join(folder, name, 'out'), { recursive: true });
    writeFileSync(path.join(folder, name, 'out/server-main.js'), program);
    return path.join(folder, name);
  };
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-vscode-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('that the image does not have is said, and nothing is started', async () => {
    const server = at(path.join(folder, 'nowhere'), 1);
    expect(server.status()).toEqual({
      running: false,
      enabled: false,
      message: expect.stringContaining('has no VS Code'),
    });
    expect(await server.open('127.0.0.1')).toEqual({ open: false, reason: expect.stringContaining('layer vscode') });
  });

  it('is started once however many ask, lets in with its token alone, which is in no argument, and ends with us', async () => {
    const directory = image('standing-in', STAND_IN);
    const port = await freePort();
    const server = at(directory, port);
    expect(server.status()).toEqual({ running: false, enabled: true });
    const opening = server.open('127.0.0.1');
    await until('its process is there', () => server.status().running, 20_000);
    // A new user is not sent to a port without a listener.
    const second = await server.open('127.0.0.1');
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(403);
    const first = await opening;
    const again = await server.open('127.0.0.1');
    expect([second, again]).toEqual([first, first]);
    if (!first.open) throw new Error(first.reason);
    expect(first.port).toBe(port);
    expect(readFileSync(path.join(directory, 'out/starts'), 'utf8').trim().split('\n')).toHaveLength(1);
    const page = await fetch(`http://127.0.0.1:${port}/?tkn=${first.token}`);
    const args = await page.text();
    expect(page.status).toBe(200);
    expect(args).not.toContain(first.token);
    expect(args).toContain('--enable-remote-auto-shutdown');
    expect(statSync(path.join(folder, 'state/vscode-token')).mode & 0o777).toBe(0o600);
    server.close();
    await until(
      'it has ended',
      async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) === null,
      20_000,
    );
    expect(server.status().running).toBe(false);
  });

  it('is there also when nothing can be noted of it, and ends with us all the same', async () => {
    const port = await freePort();
    const note = path.join(folder, 'state/vscode-process.json.new');
    mkdirSync(note, { recursive: true });
    const server = at(image('unnoted', STAND_IN), port);
    expect(await server.open('127.0.0.1')).toMatchObject({ open: true, port });
    server.close();
    await until(
      'it has ended',
      async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) === null,
      20_000,
    );
    rmSync(note, { recursive: true });
  });

  it('that ends by itself is started again with another token', async () => {
    const port = await freePort();
    const server = at(image('ending', `${STAND_IN}\nsetTimeout(() => process.exit(0), 3_000);`), port);
    const first = await server.open('127.0.0.1');
    await until('it has ended', () => !server.status().running, 20_000);
    const second = await server.open('127.0.0.1');
    server.close();
    expect([first.open, second.open]).toEqual([true, true]);
    expect(first).not.toEqual(second);
  });

  it('that does not start says why, without its token', async () => {
    const broken = await at(
      image('broken', `${STAND_IN.split('\n').slice(0, 6).join('\n')}\nthrow new Error('no module x');`),
      await freePort(),
    ).open('127.0.0.1');
    expect(broken).toEqual({ open: false, reason: expect.stringContaining('no module x') });
    expect(JSON.stringify(broken)).not.toContain(readFileSync(path.join(folder, 'state/vscode-token'), 'utf8'));
  });

  it('never takes another program on its port for itself', async () => {
    const stranger = createServer((_request, response) => response.end('not yours'));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo;
    const server = at(image('taken', STAND_IN), port);
    const opened = await server.open('127.0.0.1');
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
    expect(opened).toEqual({ open: false, reason: `Port ${port} of the sandbox is taken by another program.` });
    expect(server.status().running).toBe(false);
  });

  it('that a killed action-server has left behind on its port is ended by the next one, and nothing else is', async () => {
    const port = await freePort();
    const bystander = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const directory = image('left', STAND_IN);
    const env = () => ({ VSCODE_DIR: directory, VSCODE_PORT: String(port) });
    const open = async (server: RunningServer): Promise<OpenVscodeResponse> =>
      (await (
        await server.send('POST', '/vscode/open', JSON.stringify({ host: '127.0.0.1' }))
      ).json()) as OpenVscodeResponse;
    const first = await startActionServer(env);
    const before = await open(first);
    const died = once(first.process, 'exit');
    first.process.kill('SIGKILL');
    await died;
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(403);
    const second = await startActionServer(env, path.dirname(first.workspace));
    try {
      const after = await open(second);
      expect([before.open, after]).toEqual([true, { open: true, port, token: expect.any(String) }]);
      expect(after).not.toEqual(before);
      // Its number may be another's by now: that one is let be.
      const file = path.join(second.stateDirectory, 'vscode-process.json');
      const { started } = JSON.parse(readFileSync(file, 'utf8')) as { started: string };
      await until('the last one has ended', async () => {
        const status = (await (await second.send('GET', '/vscode/status')).json()) as VscodeStatus;
        if (!status.running) return true;
        process.kill(
          Number(readFileSync(path.join(directory, 'out/starts'), 'utf8').trim().split('\n').at(-1)),
          'SIGKILL',
        );
        return false;
      });
      writeFileSync(file, JSON.stringify({ pid: bystander.pid, started }));
      expect((await open(second)).open).toBe(true);
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    } finally {
      await second.close();
      bystander.kill('SIGKILL');
    }
    await until(
      'its port is free',
      async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) === null,
      20_000,
    );
  });

  const installed = process.env['TEST_VSCODE_DIR'];
  const skip =
    installed === undefined
      ? 'VS Code is not installed here: TEST_VSCODE_DIR names the folder of its server (docs/sandbox-images.md)'
      : false;
  itUnless(skip)('as it is installed shows its page to holders of the token only', async () => {
    const port = await freePort();
    const server = at(installed as string, port);
    const opened = await server.open('127.0.0.1');
    if (!opened.open) throw new Error(opened.reason);
    try {
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(403);
      const entered = await fetch(`http://127.0.0.1:${port}/?tkn=${opened.token}&folder=${folder}`, {
        redirect: 'manual',
      });
      expect(entered.status).toBe(302);
      const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
      expect(
        await (await fetch(`http://127.0.0.1:${port}/?folder=${folder}`, { headers: { cookie } })).text(),
      ).toContain('workbench');
    } finally {
      server.close();
    }
  });
});
