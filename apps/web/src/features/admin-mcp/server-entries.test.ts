import { describe, expect, it } from '@jest/globals';
import { McpServer, SecretName } from '@slipway/contracts/secrets';
import fc from 'fast-check';
import { t } from '../../messages/testing.ts';
import {
  changedServer,
  EMPTY_ENTRY,
  type Entry,
  freshSecrets,
  newServer,
  secretNameFor,
  valuesOf,
} from './server-entries.ts';

const entry = (change: Partial<Entry>): Entry => ({ ...EMPTY_ENTRY, id: `${Math.random()}`, ...change });
const values = { ...valuesOf(null), name: 'tracker', url: 'https://a.example' };
const faults = (entries: Entry[]) =>
  newServer(t)
    .safeParse({ ...values, entries })
    .error?.issues.map(({ path, message }) => [path.join('.'), message]);

describe('the form of an MCP server', () => {
  it('names secrets in what it sends, and brings their values apart', () => {
    const entries = [
      entry({ name: 'Authorization', kind: 'fresh', secret: 'TRACKER', prefix: 'Bearer ', secretValue: 'a-value' }),
      entry({ name: 'X-Other', kind: 'secret', secret: 'KNOWN' }),
      entry({ name: 'X-Team', text: 'core' }),
      entry({}),
    ];
    const sent = newServer(t).parse({ ...values, entries });
    expect(sent).toMatchObject({
      headers: {
        Authorization: { secret: 'TRACKER', prefix: 'Bearer ' },
        'X-Other': { secret: 'KNOWN', prefix: '' },
        'X-Team': { value: 'core' },
      },
    });
    expect(JSON.stringify(sent)).not.toContain('a-value');
    expect(freshSecrets({ ...values, entries })).toEqual([{ name: 'TRACKER', value: 'a-value' }]);
  });

  it('refuses rows of which one would be lost, and secrets without a name or a value', () => {
    expect(faults([entry({ name: 'A', text: '1' }), entry({ name: 'a', text: '2' })])).toEqual([
      ['entries', 'a is used twice'],
    ]);
    expect(faults([entry({ text: '1' })])).toEqual([['entries', 'one of them has no name']]);
    const one = { kind: 'fresh', secret: 'ONE' } as const;
    expect(
      faults([entry({ ...one, name: 'A', secretValue: '1' }), entry({ ...one, name: 'B', secretValue: '2' })]),
    ).toEqual([['entries', 'B: another row uses the same secret name']]);
    expect(faults([entry({ name: 'A', kind: 'secret' })])).toEqual([['entries', 'A: choose a secret']]);
    expect(faults([entry({ name: 'A', kind: 'fresh', secret: 'PATH', secretValue: 'x' })])?.[0]?.[1]).toContain(
      'is a name that the shell',
    );
    expect(faults([entry({ name: 'A', kind: 'fresh', secret: 'FINE' })])).toEqual([
      ['entries', 'A: enter the value of the secret'],
    ]);
  });

  it('sends a server that nobody touched as it was', () => {
    const kept = {
      id: 'mcp_1',
      name: 'n',
      enabled: false,
      missingSecrets: [],
      createdBy: { id: 'u', label: 'U' },
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-01-01T00:00:00Z',
    };
    const program = {
      transport: 'stdio' as const,
      command: 'npx',
      args: ['-y', 'a b'],
      env: { A: { value: '1' }, B: { secret: 'S', prefix: 'p' } },
    };
    const remote = {
      transport: 'sse' as const,
      url: 'https://a.example/sse',
      headers: { A: { secret: 'S', prefix: 'Bearer ' } },
    };
    for (const { transport, ...own } of [program, remote])
      expect(changedServer(t).parse(valuesOf(McpServer.parse({ ...kept, transport, ...own })))).toEqual({
        name: 'n',
        enabled: false,
        ...own,
      });
  });

  it('finds a name for a secret that can be one, whatever the server and the header are called', () => {
    expect([
      secretNameFor('Issue Tracker', 'X-Api-Key'),
      secretNameFor('1', '2'),
      secretNameFor('ld', 'preload'),
    ]).toEqual(['ISSUE_TRACKER_X_API_KEY', 'MCP_1_2', 'MCP_LD_PRELOAD']);
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        (server, header) => SecretName.safeParse(secretNameFor(server, header)).success,
      ),
    );
  });
});
