import { describe, expect, it } from '@jest/globals';
import type { EgressAdmittedBy, EgressTrafficRow } from '@slipway/contracts/sandboxes';
import { t } from '../../messages/testing.ts';
import { placeText, reasonText, shownOf, totalText } from './traffic-words.ts';

const row = (more: Partial<EgressTrafficRow> = {}): EgressTrafficRow => ({
  host: 'api.example.com',
  port: 443,
  admittedBy: { kind: 'list', id: null, name: null },
  refused: null,
  connections: 1,
  bytesOut: 0,
  bytesIn: 0,
  firstAt: '2026-01-01T00:00:00.000Z',
  lastAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const by = (kind: EgressAdmittedBy['kind'], name: string | null = null): string =>
  reasonText(t, row({ admittedBy: { kind, id: name, name } }));
const refusedFor = (refused: string): string => reasonText(t, row({ admittedBy: null, refused }));

describe('the words of traffic', () => {
  it('name what let a host through, also what is gone since', () => {
    expect([by('list'), by('observed'), by('rule', '*.a.example'), by('rule'), by('credential', 'TOKEN')]).toEqual([
      'Listed by the installation',
      'Observed',
      'Rule *.a.example',
      'A rule that is gone',
      'Credential TOKEN',
    ]);
    expect(by('credential')).toBe('A credential that is gone');
  });

  it('name why a host was refused, and show a reason of a newer proxy as it is, cut', () => {
    expect([refusedFor('unresolved'), refusedFor('new-reason')]).toEqual([
      'The name was not found',
      'Refused: new-reason',
    ]);
    expect(refusedFor('x'.repeat(500)).length).toBeLessThan(60);
  });

  it('say how much left, with hosts counted, and how many all others are', () => {
    expect(totalText(t, { hosts: 1, bytesOut: 49_152, bytesIn: 3 * 1024 ** 3 })).toBe(
      'Sent 48.0 KB to 1 host · received 3.0 GB',
    );
    expect(totalText(t, { hosts: 1_200, bytesOut: 0, bytesIn: 5 })).toBe('Sent 0 B to 1,200 hosts · received 5 B');
    expect(placeText(t, { host: '(others)', port: 0 })).toBe('all other hosts');
    expect(placeText(t, { host: 'a\u202emoc.b', port: 80 })).toBe('a⟨U+202E⟩moc.b:80');
  });

  it('are what the filter looks in, together with what is shown', () => {
    const rows = [row(), row({ host: 'b.example', admittedBy: null, refused: 'unresolved' })];
    const hosts = (text: string, shown: 'all' | 'let-through' | 'refused'): string[] =>
      shownOf(t, rows, { text, shown }).map(({ host }) => host);
    expect(hosts('', 'all')).toEqual(['api.example.com', 'b.example']);
    expect(hosts(' API. ', 'all')).toEqual(['api.example.com']);
    expect(hosts('not found', 'all')).toEqual(['b.example']);
    expect([hosts('', 'let-through'), hosts('', 'refused'), hosts('api', 'refused')]).toEqual([
      ['api.example.com'],
      ['b.example'],
      [],
    ]);
  });
});
