import { describe, expect, it } from '@jest/globals';
import { Call } from '../calls/call.js';
import { NO_USAGE } from '../calls/usage.js';
import { CallBound } from './call-bound.js';
import { type BilledCallPlan, type TrialResult } from './testing/billed-gateways.js';
import { broken, gateways, HARMLESS, isCaught, replace, setUpBilledGateways, TRIALS, trial } from './testing/trials.js';

setUpBilledGateways();

describe('three gateways in front of providers that bill', () => {
  it(`the bill is never above the ledger, and neither is above the budget, in ${TRIALS} trials`, async () => {
    let [sent, refused] = [0, 0];
    for (let number = 1; number <= TRIALS; number += 1) {
      const result = await trial(number);
      expect({ number, broken: broken(result), result }).toEqual({ number, broken: [], result });
      sent += result.sent;
      refused += result.refused;
    }
    // Both sides of the budgets were reached.
    expect(sent).toBeGreaterThan(TRIALS);
    expect(refused).toBeGreaterThan(TRIALS / 2);
  });

  it('a gateway that counts tokens for nothing is caught', async () => {
    const counts = (): Promise<TrialResult> =>
      gateways.trial(1, [
        { gateway: 0, path: '/v1/messages/count_tokens', model: 'claude', body: {}, turns: [HARMLESS], aborts: false },
      ]);
    expect(await counts()).toMatchObject({ billUsd: expect.closeTo(0.001, 9), ledgerUsd: 0.001, sent: 1 });
    const free: Call['settle'] = function (this: Call, outcome) {
      settle.call(this, { ...outcome, costUsd: 0 });
    };
    const settle = Call.prototype.settle;
    expect(await isCaught(() => replace(Call.prototype, 'settle', free), counts)).toBe(true);
  });

  const searches = (): Promise<TrialResult> =>
    gateways.trial(0.2, [
      {
        gateway: 0,
        path: '/v1/messages',
        model: 'claude-web',
        body: { max_tokens: 500, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 50 }] },
        turns: [{ text: 'found', work: { searches: 12, searchTokens: 19_000 } }],
        aborts: false,
      },
    ]);

  it('a gateway that does not limit the searches is caught', async () => {
    expect(await searches()).toMatchObject({ sent: 1 });
    expect(broken(await searches())).toEqual([]);
    expect(await isCaught(() => replace(CallBound.prototype, 'searchesFor', () => 1_000), searches)).toBe(true);
  });

  it('a gateway that guesses four characters a token without a count is caught', async () => {
    const dense: BilledCallPlan = {
      gateway: 0,
      path: '/v1/chat/completions',
      model: 'gpt',
      body: { stream: true, max_tokens: 4_000 },
      turns: [{ text: '字'.repeat(1_000), usage: null, work: { charactersPerToken: 1 } }],
      aborts: false,
    };
    const calls = (): Promise<TrialResult> => gateways.trial(1, [dense]);
    expect(broken(await calls())).toEqual([]);
    const heard = CallBound.prototype.heard;
    const guess: CallBound['heard'] = function (this: CallBound, price, granted, bytes) {
      return { ...heard.call(this, price, granted, bytes), costUsd: (bytes / 12) * 1e-5 };
    };
    expect(await isCaught(() => replace(CallBound.prototype, 'heard', guess), calls)).toBe(true);
  });

  it('a gateway that does not write the limit is caught', async () => {
    expect(await isCaught(() => replace(CallBound.prototype, 'limitFor', () => null))).toBe(true);
  });

  it('a gateway that settles what was broken off by what was seen of it is caught', async () => {
    const seenOnly: CallBound['worst'] = (_price, _limit, counted, passedTokens) => ({
      usage: { ...(counted ?? NO_USAGE), completionTokens: passedTokens },
      costUsd: (passedTokens * 10) / 1_000_000,
    });
    expect(await isCaught(() => replace(CallBound.prototype, 'worst', seenOnly))).toBe(true);
  });

  it('a gateway that leaves failed attempts out of the ledger is caught', async () => {
    const lost: Call['lost'] = () => {};
    const failsFirst: BilledCallPlan = {
      gateway: 0,
      path: '/v1/chat/completions',
      model: 'pair',
      body: {},
      turns: [{ fault: 'status', status: 500, work: { hiddenTokens: 100_000 } }, HARMLESS],
      aborts: false,
    };
    const fails = (): Promise<TrialResult> => gateways.trial(2, [failsFirst]);
    expect(broken(await fails())).toEqual([]);
    expect(await isCaught(() => replace(Call.prototype, 'lost', lost), fails)).toBe(true);
  });
});
