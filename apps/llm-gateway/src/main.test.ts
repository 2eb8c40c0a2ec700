import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import {
  createTestDatabase,
  freePort,
  type ModelServer,
  startModelServer,
  type TestDatabase,
  until,
} from '@slipway/testing';

const MASTER = 'master-key-of-the-tests-0123456789abcdef';
const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

let database: TestDatabase;
let owner: SqlPool;
let model: ModelServer;
let directory: string;
const started: ChildProcess[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
  model = await startModelServer({
    script: () => ({ text: 'hello', usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }),
  });
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-gateway-'));
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await model.close();
  await owner.end();
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<{ child: ChildProcess; url: string; exit: Promise<number | null> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PORT: String(port),
      METRICS_PORT: '0',
      DATABASE_URL: database.urls.gateway,
      LLM_GATEWAY_MASTER_KEY: MASTER,
      LLM_BASE_URL: model.url,
      LLM_MODEL: 'gpt-4o',
      DATA_DIR: directory,
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  started.push(child);
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  await until('it is ready', async () => (await fetch(`${url}/ready`)).status === 200);
  return { child, url, exit };
}

const post = (url: string, body: unknown, key: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function keyOf(url: string, conversationId: string): Promise<string> {
  const response = await post(
    `${url}/key/generate`,
    { metadata: { org_id: 'org_1', conversation_id: conversationId } },
    MASTER,
  );
  return ((await response.json()) as { key: string }).key;
}

async function rows(conversationId: string): Promise<number> {
  const result = await owner.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM gateway.ledger WHERE conversation_id = $1',
    [conversationId],
  );
  return result.rows[0]?.n ?? -1;
}

describe('the process', () => {
  it('killed right after an answer loses no call: the next process stores it', async () => {
    const conversationId = randomUUID();
    const first = await start();
    const key = await keyOf(first.url, conversationId);
    const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
    for (let index = 0; index < 20; index += 1)
      expect((await post(`${first.url}/v1/chat/completions`, request, key)).status).toBe(200);
    // One more event-loop turn of the gateway: from there on its last line is with the kernel.
    await (await fetch(`${first.url}/alive`)).text();
    first.child.kill('SIGKILL');
    await first.exit;
    const second = await start();
    await until('every call is in the ledger', async () => (await rows(conversationId)) === 20);
    expect((await post(`${second.url}/v1/chat/completions`, request, key)).status).toBe(200);
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);
    expect(await rows(conversationId)).toBe(21);
  });

  it('killed leaves nothing of a budget held: its next process counts what was spent and frees the rest', async () => {
    await owner.query(
      `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ('org_1', 'org', '', 500, 'month')`,
    );
    try {
      const first = await start();
      const key = await keyOf(first.url, randomUUID());
      const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
      const replicasOf = async (): Promise<string[]> =>
        (
          await owner.query<{ replica: string }>(
            `SELECT DISTINCT replica FROM gateway.budget_lease WHERE org_id = 'org_1' AND held > 0`,
          )
        ).rows.map(({ replica }) => replica);
      const [held] = await until('it holds some of it', async () => {
        expect((await post(`${first.url}/v1/chat/completions`, request, key)).status).toBe(200);
        const replicas = await replicasOf();
        return replicas.length > 0 ? replicas : null;
      });
      first.child.kill('SIGKILL');
      await first.exit;
      expect(await replicasOf()).toEqual([held]);
      const second = await start();
      await until('that is free', async () => !(await replicasOf()).includes(held ?? ''));
      const { rows } = await owner.query<{ same: boolean }>(
        `SELECT a.spent = (SELECT sum(l.cost_usd) * 10000000000 FROM gateway.ledger l WHERE l.org_id = 'org_1') AS same FROM gateway.budget_account a WHERE a.org_id = 'org_1'`,
      );
      expect(rows).toEqual([{ same: true }]);
      second.child.kill('SIGTERM');
      expect(await second.exit).toBe(0);
      expect(await replicasOf()).toEqual([]);
    } finally {
      await owner.query(`DELETE FROM gateway.budget WHERE org_id = 'org_1'`);
    }
  });

  it('lets on SIGTERM a call under way end well, and stores it', async () => {
    const conversationId = randomUUID();
    const gateway = await start();
    const key = await keyOf(gateway.url, conversationId);
    model.use(() => ({ text: 'a long answer', chunkDelayMs: 50, chunkLength: 1 }));
    const response = await post(
      `${gateway.url}/v1/chat/completions`,
      { model: 'gpt-4o', stream: true, messages: [] },
      key,
    );
    gateway.child.kill('SIGTERM');
    expect(await response.text()).toContain('[DONE]');
    expect(await gateway.exit).toBe(0);
    expect(await rows(conversationId)).toBe(1);
  });

  it('does not start with a wrong configuration, and names the variables without their values', async () => {
    const child = spawn(process.execPath, [MAIN], {
      env: { DATABASE_URL: database.urls.gateway, LLM_GATEWAY_MASTER_KEY: 'too-short-secret', LLM_API_KEY: 'sk-1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString();
    });
    child.stderr.on('data', (part: Buffer) => {
      text += part.toString();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).not.toBe(0);
    expect(text).toContain('LLM_GATEWAY_MASTER_KEY');
    expect(text).toContain('LLM_MODEL');
    expect(text).not.toContain('too-short-secret');
  });
});
