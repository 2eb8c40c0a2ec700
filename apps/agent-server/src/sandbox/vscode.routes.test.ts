import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

const STAND_IN = `
const { readFileSync } = require('node:fs');
const option = (name) => process.argv[process.argv.indexOf('--' + name) + 1];
const token = readFileSync(option('connection-token-file'), 'utf8');
require('node:http').createServer((request, response) => {
  response.statusCode = request.url.includes('tkn=' + token) ? 200 : 403;
  response.end();
}).listen(Number(option('port')), option('host'));
`;

async function withSandbox(
  env: (sandbox: TestSandbox) => Promise<Record<string, string>>,
  use: (sandbox: TestSandbox) => Promise<void>,
): Promise<void> {
  const sandbox = await TestSandbox.create();
  try {
    sandbox.env = await env(sandbox);
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    expect((await sandbox.activate({})).status).toBe(200);
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

describe('VS Code, as OpenHands’ clients ask for it', () => {
  it('has no address where the image has none, and the reason', () =>
    withSandbox(
      async (sandbox) => ({ VSCODE_DIR: path.join(sandbox.directory, 'nowhere') }),
      async (sandbox) => {
        expect((await sandbox.call('GET', '/api/vscode/status')).body).toEqual({
          running: false,
          enabled: false,
          message: expect.stringContaining('no VS Code'),
        });
        expect((await sandbox.call('GET', '/api/vscode/url')).body).toEqual({
          url: null,
          reason: expect.stringContaining('no VS Code'),
        });
      },
    ));

  it('is started by asking for its address, which opens the folder that is named', () =>
    withSandbox(
      async (sandbox) => {
        mkdirSync(path.join(sandbox.directory, 'vscode/out'), { recursive: true });
        writeFileSync(path.join(sandbox.directory, 'vscode/out/server-main.js'), STAND_IN);
        return { VSCODE_DIR: path.join(sandbox.directory, 'vscode'), VSCODE_PORT: String(await freePort()) };
      },
      async (sandbox) => {
        expect((await sandbox.call('GET', '/api/vscode/status')).body).toEqual({ running: false, enabled: true });
        const base = `http://127.0.0.1:${sandbox.env['VSCODE_PORT']}/`;
        const { body } = await sandbox.call<{ url: string; reason: null }>(
          'GET',
          `/api/vscode/url?base_url=${encodeURIComponent(base)}&workspace_dir=project`,
        );
        const url = new URL(body.url);
        expect([url.origin, url.searchParams.get('folder')]).toEqual([
          new URL(base).origin,
          path.join(sandbox.workspace, 'project'),
        ]);
        expect([(await fetch(body.url)).status, (await fetch(base)).status]).toEqual([200, 403]);
        expect((await sandbox.call('GET', '/api/vscode/status')).body).toEqual({ running: true, enabled: true });
      },
    ));
});
