import { describe, expect, it } from '@jest/globals';
import { APP_STATES, type ConnectionApp } from '@slipway/contracts/integrations';
import { t } from '../../messages/testing.ts';
import { APP_STATES_SHOWN, reachOf } from './app-words.ts';

const app = (change: Partial<ConnectionApp>): ConnectionApp => ({
  ...{
    id: '1',
    slug: 's',
    url: null,
    state: 'installed',
    account: { login: 'acme', kind: 'organization' },
    selection: 'selected',
    repositories: 2,
  },
  ...{ missingPermissions: [], checkedAt: null, recoveredAt: null },
  ...change,
});

describe('the words for an app', () => {
  it('say for each state but the usual one what is to be done', () => {
    for (const state of APP_STATES)
      expect([state, APP_STATES_SHOWN[state].next === null]).toEqual([state, state === 'installed']);
  });

  it('say which repositories it reaches', () => {
    expect(reachOf(t, app({}))).toBe('2 repositories of acme');
    expect(reachOf(t, app({ selection: 'all', repositories: 1 }))).toBe('all 1 repository of acme');
    expect(reachOf(t, app({ repositories: null }))).toBe('repositories of acme');
    expect(reachOf(t, app({ selection: null }))).toBeNull();
  });
});
