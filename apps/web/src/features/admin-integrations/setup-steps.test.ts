import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { guideOf, limitsOf, setupOf } from './setup-steps.ts';

const provider = (id: string, ...kinds: Array<[kind: string, signature: string]>) => ({
  id,
  connections: kinds.map(([kind, signature]) => ({ kind, name: `Kind ${kind}`, signature })),
});

describe('the guide of a provider', () => {
  it('offers the kinds that can be set up by hand, of those that the server knows', () => {
    expect(guideOf(t, provider('slack', ['app', 'v0'], ['socket', 'socket'])).kinds.map(({ kind }) => kind)).toEqual([
      'app',
      'socket',
    ]);
    expect(guideOf(t, provider('github', ['app', 'sha256'])).kinds.map(({ kind }) => kind)).toEqual(['app']);
  });

  it('offers every kind but sockets of a provider that the page does not know', () => {
    const guide = guideOf(t, provider('forge', ['hook', 'hmac'], ['live', 'socket']));
    expect(guide).toMatchObject({ secret: 'ours', kinds: [{ kind: 'hook', label: 'Kind hook' }] });
    expect(guideOf(t, provider('constructor', ['hook', 'hmac'])).kinds).toHaveLength(1);
  });

  it('has steps for a connection whose kind is set up like the first', () => {
    const guide = guideOf(t, provider('gitea', ['oauth', 'sha256'], ['token', 'sha256']));
    expect(setupOf(guide, 'oauth')?.kind).toBe('token');
  });
});

describe('the limits of a provider', () => {
  it('names what it is not called for yet', () => {
    const all = { name: 'Forge', does: ['code'], takesToken: true, linking: true };
    expect(limitsOf(t, all)).toEqual([]);
    expect(limitsOf(t, { ...all, takesToken: false })).toEqual([
      'Slipway cannot check write access at Forge yet, so requests that name a repository are listed but refused.',
    ]);
    expect(limitsOf(t, { ...all, does: ['chat'], takesToken: false, linking: false })).toHaveLength(1);
  });
});
