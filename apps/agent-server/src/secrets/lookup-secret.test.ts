import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestSandbox } from '../testing/sandbox.js';

const KEY = 'the-key-of-the-vault-0815';
const VALUE = 'a-value-out-of-the-vault-4711';

describe('a secret read by its address', () => {
  let sandbox: TestSandbox;
  let vault: Server;
  let id: string;
  beforeAll(async () => {
    vault = createServer((request, response) => {
      if (request.headers['x-vault-key'] !== KEY) return void response.writeHead(403).end('no');
      if (request.url === '/long') return void response.end('x'.repeat(100_000));
      if (request.url === '/elsewhere') return void response.writeHead(302, { location: '/value' }).end();
      response.end(request.url === '/value' ? VALUE : '');
    });
    [sandbox] = await Promise.all([
      TestSandbox.start(),
      new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve)),
    ]);
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/none', base_url: 'http://127.0.0.1:9/v1' } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
    });
    id = body.id;
  });
  afterAll(async () => {
    await sandbox.close();
    vault.closeAllConnections();
    await new Promise((resolve) => vault.close(resolve));
  });
  const give = (path: string, headers: object = { 'X-Vault-Key': KEY }) =>
    sandbox.call<{ detail?: string }>('POST', `/api/conversations/${id}/secrets`, {
      secrets: {
        FROM_VAULT: {
          kind: 'LookupSecret',
          url: `http://127.0.0.1:${(vault.address() as AddressInfo).port}${path}`,
          headers,
        },
        PLAIN: { kind: 'StaticSecret', value: 'a-plain-value-4711' },
      },
    });

  it('is in the environment of commands, and neither it nor what it was asked with is read by anybody', async () => {
    expect((await give('/value', { 'X-Vault-Key': KEY, accept: 'text/plain, */*' })).status).toBe(200);
    const ran = await sandbox.call<{ stdout: string }>('POST', '/api/bash/execute_bash_command', {
      command: 'echo "$FROM_VAULT $PLAIN"; echo -n "$FROM_VAULT" | wc -c; echo "text/plain, */*"',
      timeout: 20,
    });
    expect(ran.body.stdout).toBe(`<secret:FROM_VAULT> <secret:PLAIN>\n${VALUE.length}\ntext/plain, */*\n`);
    expect(JSON.stringify(sandbox.lines)).not.toMatch(new RegExp(`${KEY}|${VALUE}`));
  });

  it('that cannot be had is refused with its name and why, and nothing else is handed over either', async () => {
    for (const [path, headers, why] of [
      ['/value', {}, 'status 403'],
      ['/long', undefined, 'longer than 64 KiB'],
      ['/elsewhere', undefined, 'status 302'],
      ['/empty', undefined, 'no value'],
    ] as const) {
      const { status, body } = await give(path, headers);
      expect([status, body.detail]).toEqual([
        503,
        expect.stringMatching(
          new RegExp(`^The secret FROM_VAULT cannot be fetched from 127\\.0\\.0\\.1:\\d+: .*${why}`),
        ),
      ]);
      expect(JSON.stringify(body)).not.toContain(KEY);
    }
    const odd = await sandbox.call('POST', `/api/conversations/${id}/secrets`, {
      secrets: { X: { kind: 'LookupSecret', url: 'file:///etc/passwd', value: 'x' } },
    });
    expect(odd.status).toBe(400);
  });
});
