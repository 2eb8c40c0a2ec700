import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({ fault: 'huge-line', bytes: 10 * 1024 * 1024 }));
});
afterAll(() => test.close());

interface Received {
  readonly status: number;
  readonly bytes: number;
  readonly last: string;
  readonly whole: boolean;
}

/**
 * All that comes until the connection ends, in which way ever. Not by `fetch`, which forgets what it has not given out
 * when a connection breaks.
 */
function post(path: string, body: unknown, key: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${test.gateway.url}${path}`,
      { method: 'POST', headers: { authorization: `Bearer ${key}` } },
      (response) => {
        let [bytes, last] = [0, ''];
        response.on('data', (part: Buffer) => {
          bytes += part.length;
          last = (last + part.toString('latin1')).slice(-4_000);
        });
        response.on('error', () => {});
        response.on('close', () =>
          resolve({ status: response.statusCode ?? 0, bytes, last, whole: response.complete }),
        );
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

const messages = [{ role: 'user', content: 'hi' }];
const CALLS = {
  '/v1/chat/completions': { model: MODEL, stream: true, messages },
  '/v1/messages': { model: MODEL, stream: true, max_tokens: 100, messages },
  '/v1/responses': { model: MODEL, stream: true, input: 'hi' },
};

describe('a line of 10 MB that a provider never ends', () => {
  for (const [path, body] of Object.entries(CALLS)) {
    it(`is reported with a code to callers of ${path}, is no answer, and is one row of the ledger with what was asked`, async () => {
      const id = randomUUID();
      const { status, bytes, last, whole } = await post(path, body, await test.key(id));
      expect(last).toMatch(/"code":\s*"model\.(bad-response|unavailable)"/);
      expect(last).not.toContain('[DONE]');
      // Who is passed through to has what was sent; who is translated for has nothing of a line that was never read.
      if (path !== '/v1/chat/completions') expect(bytes).toBeLessThan(100_000);
      // An error that comes instead of an answer is a whole one.
      if (status === 200) expect(whole).toBe(false);
      const rows = await test.ledger(id, 1);
      expect(rows.map((row) => [row.status, row.usage_source])).toEqual([
        ['failed', expect.stringMatching(/^(estimated|none)$/)],
      ]);
      if (status === 200) expect(rows[0]?.prompt_tokens).toBeGreaterThan(0);
      expect(
        test.model.requests.filter(({ headers }) =>
          headers['traceparent']?.toString().includes(rows[0]?.trace_id ?? '?'),
        ),
      ).toHaveLength(1);
    });
  }
});
