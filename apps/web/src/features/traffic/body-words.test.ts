import { describe, expect, it } from '@jest/globals';
import type { EgressBodies, EgressTrafficRow } from '@slipway/contracts/sandboxes';
import { t } from '../../messages/testing.ts';
import { bodiesOfRows, foldersText, requestsText } from './body-words.ts';

const bodies = (more: Partial<EgressBodies> = {}): EgressBodies => ({
  host: 'api.example.com',
  port: 443,
  requests: 1,
  bytes: 49_152,
  workspaceBytes: 0,
  unreadBytes: 0,
  folders: [],
  types: [{ type: 'application/json', bytes: 49_152 }],
  ...more,
});

describe('the words of bodies', () => {
  it('say size, number and type, also of what names none', () => {
    expect(requestsText(t, bodies())).toBe('48.0 KB in 1 request: application/json');
    const types = [
      { type: '', bytes: 1 },
      { type: 'other', bytes: 1 },
    ];
    expect(requestsText(t, bodies({ requests: 1_200, types }))).toBe(
      '48.0 KB in 1,200 requests: no type named, other types',
    );
  });

  it('name folders as plain text, cut where a sandbox made them long', () => {
    const folders = [
      { folder: '.', bytes: 2 },
      { folder: 'x'.repeat(500), bytes: 1 },
    ];
    expect(foldersText(t, bodies({ folders }))).toBe(`from its top folder, ${'x'.repeat(60)}…`);
    expect(foldersText(t, bodies())).toBe('');
  });

  it('stand at the first row of their host that was let through', () => {
    const row = (port: number, passed: boolean): EgressTrafficRow => ({
      host: 'api.example.com',
      port,
      admittedBy: passed ? { kind: 'rule', id: 'egr_1', name: 'api.example.com' } : null,
      refused: passed ? null : 'rule',
      connections: 1,
      bytesOut: 1,
      bytesIn: 1,
      firstAt: '2026-01-01T00:00:00.000Z',
      lastAt: '2026-01-01T00:00:00.000Z',
    });
    const rows = [row(443, false), row(8443, true), row(443, true), row(443, true)];
    const found = bodiesOfRows(rows, [bodies(), bodies({ host: 'gone.example.com' })]);
    expect([...found.keys()]).toEqual([rows[2]]);
  });
});
