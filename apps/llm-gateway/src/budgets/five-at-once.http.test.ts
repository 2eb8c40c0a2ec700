import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

/** Runs of the property; more by the environment. */
const RUNS = Number(process.env['FIVE_AT_ONCE_RUNS'] ?? 12);
const SUB_AGENTS = 5;
/** A sub-agent that is not stopped by then fails the test. */
const MAX_CALLS = 200;

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());

/** What one model call of a sub-agent comes to: its prompt, and how much of its allowed answer the model writes. */
const modelCall = fc.record({
  promptLength: fc.integer({ min: 1, max: 60_000 }),
  /** Tokens. */
  longestAnswer: fc.integer({ min: 1, max: 8_000 }),
  /** Of the longest prompt and the longest answer, in percent. */
  prompt: fc.integer({ min: 0, max: 100 }),
  answer: fc.constantFrom<number>(0, 1, 50, 99, 100),
});
type ModelCall = typeof modelCall extends fc.Arbitrary<infer T> ? T : never;

/** Calls, one after the other, until the budget is used up. @returns how many were answered. */
async function work(key: string, calls: readonly ModelCall[]): Promise<number> {
  let answered = 0;
  for (let made = 0; made < MAX_CALLS; made += 1) {
    const { promptLength, longestAnswer, prompt, answer } = calls[made % calls.length] as ModelCall;
    const content = `${JSON.stringify({ prompt, answer })}${'x'.repeat(promptLength)}`;
    const response = await test.post(
      '/v1/chat/completions',
      { model: MODEL, max_tokens: longestAnswer, messages: [{ role: 'user', content }] },
      key,
    );
    await response.text();
    if (response.status === 402) return answered;
    // Another one's call holds what is left: as the agent does, it asks again.
    expect([200, 429]).toContain(response.status);
    if (response.status === 200) answered += 1;
  }
  throw new Error(`${MAX_CALLS} calls, and the budget is not used up`);
}

describe('the budget of a conversation with five sub-agents at work at once', () => {
  it('is never overrun, whatever their calls cost, and is what the ledger says', async () => {
    test.model.use(({ body }) => {
      const content = (body.messages as readonly { content: string }[])[0]?.content ?? '';
      const { prompt, answer } = JSON.parse(content.slice(0, content.indexOf('}') + 1)) as ModelCall;
      const prompt_tokens = Math.ceil((content.length * prompt) / 100);
      const completion_tokens = Math.floor((Number(body['max_tokens']) * answer) / 100);
      return {
        text: 'ok',
        usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      };
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.array(modelCall, { minLength: 1, maxLength: 4 }), { minLength: SUB_AGENTS, maxLength: SUB_AGENTS }),
        async (cents, agents) => {
          // Without a call that costs something none of them would be stopped.
          const calls = agents.map((own) => [
            ...own,
            { promptLength: 40_000, longestAnswer: 500, prompt: 90, answer: 100 },
          ]);
          const conversation = randomUUID();
          const key = await test.key(conversation, {
            metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' },
          });
          const limitUsd = cents / 100;
          const put = await fetch(`${test.gateway.url}/internal/spending/${conversation}`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify({ org: 'org_1', user: 'usr_ada', userLabel: 'Ada', limitUsd: String(limitUsd) }),
          });
          expect(put.status).toBe(204);
          const counts = await Promise.all(calls.map((own) => work(key, own)));
          const total = counts.reduce((sum, count) => sum + count, 0);
          answered += total;
          const rows = (await test.ledger(conversation, total)).filter(({ cost_known }) => cost_known);
          const billed = rows.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0);
          expect(billed).toBeLessThanOrEqual(limitUsd + 1e-9);
        },
      ),
      { numRuns: RUNS },
    );
    expect(answered).toBeGreaterThan(RUNS);
  });
});
