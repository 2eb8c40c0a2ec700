import { afterAll, beforeAll } from '@jest/globals';
import type { BilledTurn } from '@slipway/testing';
import {
  type BilledCallPlan,
  type BilledGateways,
  SEARCHED_CONTEXT,
  startBilledGateways,
  type TrialResult,
} from './billed-gateways.js';

/** Trials of the property; more by the environment. */
export const TRIALS = Number(process.env['BILL_TRIALS'] ?? 20);
/** A broken variant is caught within so many. */
export const BROKEN_TRIALS = 20;
export const CALLS = 10;

export let gateways: BilledGateways;
/** Reproducible: the trial's number is its seed. */
export function random(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return state / 4_294_967_296;
  };
}

export const HARMLESS: BilledTurn = { text: 'a short answer' };

/** What a provider may do with a call: hidden reasoning without end, dense scripts, failures at any moment. */
export function turnOf(next: () => number): BilledTurn {
  const work = {
    hiddenTokens: next() < 0.5 ? Math.floor(150_000 * next()) : 0,
    charactersPerToken: next() < 0.5 ? 1 : 4,
    // A token for each byte of what was asked, at most.
    promptTokens: Math.floor(20 + 80 * next()),
    writtenTokens: Math.floor(20 * next()),
    cachedTokens: Math.floor(20 * next()),
    searches: Math.floor(12 * next()),
    searchTokens: Math.floor((SEARCHED_CONTEXT - 100) * next()),
  };
  const text = '字'.repeat(Math.floor(4_000 * next()));
  const kind = next();
  if (kind < 0.55) return { text, work };
  if (kind < 0.65) return { fault: 'status', status: 500, work };
  if (kind < 0.75) return { fault: 'cut', work };
  if (kind < 0.85) return { fault: 'cut-mid-stream', text: 'begun', work };
  if (kind < 0.9) return { fault: 'status', status: 429, work };
  return { fault: 'error-in-stream', work };
}

export function planOf(next: () => number): BilledCallPlan {
  const model = (['gpt', 'claude', 'pair'] as const)[Math.floor(3 * next())] ?? 'gpt';
  const path =
    (['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const)[Math.floor(3 * next())] ?? '/v1/messages';
  if (next() < 0.1)
    return {
      gateway: Math.floor(3 * next()),
      path: '/v1/messages/count_tokens',
      model: 'claude',
      body: {},
      turns: [HARMLESS],
      aborts: false,
    };
  if (next() < 0.2) return searchPlan(next);
  if (next() < 0.15) return uncountedPlan(next);
  const chatLimit = next() < 0.5 ? 'max_completion_tokens' : 'max_tokens';
  const limit = path === '/v1/responses' ? 'max_output_tokens' : path === '/v1/messages' ? 'max_tokens' : chatLimit;
  const aborts = next() < 0.25;
  return {
    gateway: Math.floor(3 * next()),
    path,
    model,
    body: {
      stream: next() < 0.6,
      ...(next() < 0.4 ? { [limit]: Math.ceil(20_000 * next()) } : {}),
      ...(path === '/v1/chat/completions' && model === 'gpt' && next() < 0.3 ? { n: 1 + Math.floor(3 * next()) } : {}),
      ...(next() < 0.2 ? { service_tier: 'priority' } : {}),
      ...(next() < 0.1 ? { tools: [{ type: 'web_search', name: 'web_search' }] } : {}),
      ...(next() < 0.1 ? { nobody_knows_this: { max_tokens: 1 } } : {}),
    },
    turns: aborts
      ? [{ fault: next() < 0.5 ? 'hang' : 'hang-mid-stream', work: { hiddenTokens: 100_000, promptTokens: 90 } }]
      : [turnOf(next), HARMLESS],
    aborts,
  };
}

/** A call that may search, with or without a limit of its own. */
export function searchPlan(next: () => number): BilledCallPlan {
  const most = next() < 0.5 ? { most: 1 + Math.floor(10 * next()) } : {};
  const [path, model, tool, bound] =
    next() < 0.5
      ? ([
          '/v1/messages',
          'claude-web',
          { type: 'web_search_20250305', name: 'web_search', ...('most' in most ? { max_uses: most.most } : {}) },
          {},
        ] as const)
      : ([
          '/v1/responses',
          'gpt-web',
          { type: 'web_search' },
          'most' in most ? { max_tool_calls: most.most } : {},
        ] as const);
  const aborts = next() < 0.2;
  const body = {
    stream: next() < 0.5,
    ...(path === '/v1/messages' ? { max_tokens: Math.ceil(4_000 * next()) } : {}),
    tools: [tool],
    ...bound,
  };
  const turns: BilledTurn[] = aborts
    ? [{ fault: 'hang-mid-stream', work: { searches: 9, searchTokens: 19_000, promptTokens: 90 } }]
    : [turnOf(next)];
  return {
    gateway: Math.floor(3 * next()),
    path,
    model,
    body: aborts ? { ...body, stream: true } : body,
    turns,
    aborts,
  };
}

/** A server that never counts, of what anybody may hear. */
export function uncountedPlan(next: () => number): BilledCallPlan {
  const said = ['字', '💥', 'Zm9vYmFy', 'word '][Math.floor(4 * next())] ?? '字';
  const text = said.repeat(Math.floor(300 * next()));
  return {
    gateway: Math.floor(3 * next()),
    path: next() < 0.5 ? '/v1/chat/completions' : '/v1/messages',
    model: 'gpt',
    body: { stream: next() < 0.5, max_tokens: 2_000 },
    // A token for each byte is the most that there can be.
    turns: [
      {
        text,
        usage: null,
        work: {
          charactersPerToken: text.length / Math.max(1, Buffer.byteLength(text)),
          promptTokens: Math.floor(90 * next()),
        },
      },
    ],
    aborts: false,
  };
}

export async function trial(number: number): Promise<TrialResult> {
  const next = random(number);
  const limitUsd = Math.round((0.02 + 1.5 * next() * next()) * 10_000) / 10_000;
  return gateways.trial(
    limitUsd,
    Array.from({ length: CALLS }, () => planOf(next)),
  );
}

/** A last place of a double is no money. */
export const CENT_OF_NOTHING = 1e-9;

export function broken({ billUsd, ledgerUsd, limitUsd }: TrialResult): string[] {
  return [
    ...(billUsd > ledgerUsd + CENT_OF_NOTHING ? [`the bill of ${billUsd} is above the ledger of ${ledgerUsd}`] : []),
    ...(ledgerUsd > limitUsd + CENT_OF_NOTHING
      ? [`the ledger of ${ledgerUsd} is above the budget of ${limitUsd}`]
      : []),
    ...(billUsd > limitUsd + CENT_OF_NOTHING ? [`the bill of ${billUsd} is above the budget of ${limitUsd}`] : []),
  ];
}

/** The property fails while this is so. */
export async function isCaught(
  breakIt: () => () => void,
  trialOf: (number: number) => Promise<TrialResult> = trial,
): Promise<boolean> {
  const mend = breakIt();
  try {
    for (let number = 1; number <= BROKEN_TRIALS; number += 1)
      if (broken(await trialOf(number)).length > 0) return true;
    return false;
  } finally {
    mend();
  }
}

/** Another method in its place. */
export function replace<T extends object, K extends keyof T>(of: T, name: K, by: T[K]): () => void {
  const own = of[name];
  of[name] = by;
  return () => {
    of[name] = own;
  };
}

/** Three gateways in front of providers that bill. */
export function setUpBilledGateways(): void {
  beforeAll(async () => {
    gateways = await startBilledGateways();
  });
  afterAll(() => gateways?.close());
}
