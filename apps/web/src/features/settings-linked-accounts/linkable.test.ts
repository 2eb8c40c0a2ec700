import { describe, expect, it } from '@jest/globals';
import type { LinkableConnection } from '@slipway/contracts/identity';
import { stillToLink } from './linkable.ts';

const connection = (connectionId: string, host: string, orgId = 'org-1'): LinkableConnection => ({
  connectionId,
  orgId,
  orgName: 'Acme',
  name: host,
  provider: 'gitea',
  providerName: 'Gitea',
  host,
});
const ids = (connections: readonly LinkableConnection[]) => connections.map(({ connectionId }) => connectionId);

describe('where an account can still be linked', () => {
  it('is each host of each organization once', () => {
    expect(
      ids(
        stillToLink(
          [connection('a', 'one.test'), connection('b', 'one.test'), connection('c', 'one.test', 'org-2')],
          [],
        ),
      ),
    ).toEqual(['a', 'c']);
  });

  it('leaves out hosts with a linked account, and keeps those whose link still waits', () => {
    const at = (host: string, state: 'linked' | 'pending') => ({ orgId: 'org-1', provider: 'gitea', host, state });
    const linkable = [connection('a', 'one.test'), connection('b', 'two.test')];
    expect(ids(stillToLink(linkable, [at('one.test', 'linked'), at('two.test', 'pending')]))).toEqual(['b']);
  });
});
