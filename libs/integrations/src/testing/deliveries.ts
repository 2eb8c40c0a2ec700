import type { ReadDelivery } from '../delivery.js';
import type { Reading } from '../intent.js';
import type { ReadingContext } from '../provider.js';

/** Bodies are written as a provider sends them: any JSON. */
export type Json = { readonly [field: string]: unknown };

export const OWN = '999';

export function contextWith(change: Partial<ReadingContext> = {}): ReadingContext {
  return {
    own: { ids: [OWN], mention: 'slipway' },
    labels: ['Slipway'],
    bots: [],
    confidential: false,
    ours: () => false,
    ...change,
  };
}

/** In one line: what a table expects. */
export function summary(reading: Reading): string {
  switch (reading.kind) {
    case 'ignored':
      return `ignored: ${reading.reason}`;
    case 'intent':
      return `intent: ${reading.intent.trigger} ${reading.intent.semanticKey}`;
    case 'outcome':
      return reading.outcome.kind === 'checks'
        ? `outcome: ${reading.outcome.branch} ${reading.outcome.conclusion}`
        : `outcome: #${reading.outcome.number} ${reading.outcome.state}`;
    case 'lifecycle':
      return `lifecycle: ${reading.lifecycle.kind}${'account' in reading.lifecycle ? ` ${reading.lifecycle.account}` : ''}`;
    case 'challenge':
      return `challenge: ${reading.answer}`;
  }
}

const AT = '2026-11-23T10:00:00Z';
export const ANN = { id: 7, login: 'ann', type: 'User' };
const REPOSITORY = { id: 42, full_name: 'acme/shop', private: true, default_branch: 'main' };

export const issue = (change: Json = {}): Json => ({
  id: 500,
  number: 12,
  title: 'Cart is empty',
  body: 'Steps',
  html_url: 'https://git.example/acme/shop/issues/12',
  state: 'open',
  user: ANN,
  created_at: AT,
  updated_at: AT,
  labels: [],
  assignees: [],
  ...change,
});

export const pull = (change: Json = {}): Json => ({
  ...issue({ id: 600, number: 13, title: 'Fill the cart' }),
  head: { ref: 'fix', sha: 'abc', repo: { id: 42 } },
  base: { ref: 'main', sha: 'def', repo: { id: 42 } },
  draft: false,
  merged: false,
  ...change,
});

export const comment = (body: string, change: Json = {}): Json => ({
  id: 900,
  body,
  html_url: 'https://git.example/c/900',
  created_at: AT,
  user: ANN,
  ...change,
});

/** A delivery of GitHub (`x-github-event`) or Gitea (`x-gitea-event`). */
export function forge(header: 'github' | 'gitea', event: string, action: string, body: Json): ReadDelivery {
  return {
    headers: { [`x-${header}-event`]: event, [`x-${header}-delivery`]: 'd-1' },
    body: { action, repository: REPOSITORY, sender: ANN, ...body },
  };
}
