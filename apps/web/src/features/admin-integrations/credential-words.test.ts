import { describe, expect, it } from '@jest/globals';
import type { ConnectionCredential } from '@slipway/contracts/integrations';
import { t } from '../../messages/testing.ts';
import { healthOf } from './credential-words.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');
const GITLAB = { name: 'GitLab', does: ['code' as const] };
const credential = (more: Partial<ConnectionCredential>): ConnectionCredential => ({
  ...{
    kind: 'token',
    setAt: '2026-11-01T00:00:00.000Z',
    expiresAt: null,
    renews: false,
    scopes: null,
    missingScopes: [],
    problem: null,
  },
  ...more,
});
const words = (more: Partial<ConnectionCredential>): string[] =>
  healthOf(t, credential(more), GITLAB, NOW).map(({ text }) => text);

describe('the health of a credential', () => {
  it('says nothing of one that works', () => {
    expect(words({})).toEqual([]);
    expect(words({ expiresAt: '2026-12-25T00:00:00.000Z' })).toEqual([]);
    // Renewed long before.
    expect(words({ kind: 'oauth-tokens', expiresAt: '2026-11-25T11:00:00.000Z', renews: true })).toEqual([]);
  });

  it('counts the days of a token that nobody renews, and says when it has ended', () => {
    expect(words({ expiresAt: '2026-12-01T10:00:00.000Z' })).toEqual(['It expires in 6 days.']);
    expect(words({ expiresAt: '2026-11-25T20:00:00.000Z' })).toEqual(['It expires within a day.']);
    expect(words({ expiresAt: '2026-11-20T00:00:00.000Z' })).toEqual(['It expired on 2026-11-20.']);
  });

  it('names the scopes that are missing, and why a renewal failed', () => {
    expect(words({ missingScopes: ['api'], problem: 'gitlab.com did not renew the authorization (503).' })).toEqual([
      'gitlab.com did not renew the authorization (503).',
      'A scope is missing at GitLab: api.',
    ]);
  });

  it('says what does not happen without one', () => {
    expect(healthOf(t, null, { name: 'Slack', does: ['chat'] }, NOW)).toEqual([
      { tone: 'warn', text: 'Slipway cannot reply there.' },
    ]);
  });
});
