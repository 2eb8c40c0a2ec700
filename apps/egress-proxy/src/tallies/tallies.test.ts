import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type EgressTally, type EgressTallyBatch, MAX_TALLY_HOSTS, OTHER_HOSTS } from '@slipway/contracts/sandboxes';
import { createLogger } from '@slipway/telemetry';
import type { Line } from '../lines/line.js';
import { CLAIMS } from '../testing/test-egress.js';
import { Tallies } from './tallies.js';

const SOURCE = '0197c0de-0000-7000-8000-000000000001';
const HOUR_MS = 3_600_000;

describe('what egress-proxy counts', () => {
  const lines = new Set<Line>();
  let now: number;
  let sent: EgressTallyBatch[];
  let fails: boolean;
  let tallies: Tallies;
  beforeEach(() => {
    [now, sent, fails] = [7 * HOUR_MS, [], false];
    lines.clear();
    const client = {
      count: async (batch: EgressTallyBatch): Promise<void> => {
        sent.push(structuredClone(batch));
        if (fails) throw new Error('no answer');
      },
    };
    tallies = new Tallies({ client, lines, source: SOURCE, logger: createLogger('t', 'silent'), now: () => now });
  });
  afterEach(() => tallies.close());
  const open = (host: string, conversation: string | undefined = 'cnv_1', org = 'org_1') => {
    const socket = { bytesWritten: 100, bytesRead: 0 };
    const line: Line = {
      kind: 'connect',
      claims: { ...CLAIMS, org, ...(conversation === undefined ? {} : { conversation }) },
      destination: { host, port: 443 },
      socket: socket as Socket,
      admitted: { rule: 'egr_1', listed: false, brokered: false, decided: true, changes: 0 },
      allowance: null,
      since: 0,
      cut: null,
    };
    lines.add(line);
    tallies.begun(line);
    return { line, socket };
  };
  const row = (more: Partial<EgressTally>): EgressTally => ({
    conversation: 'cnv_1',
    hour: 7,
    host: 'a.example',
    port: 443,
    verdict: 'allowed',
    rule: 'egr_1',
    listed: false,
    connections: 1,
    bytesOut: 0,
    bytesIn: 0,
    ...more,
  });

  it('is a connection when it begins and bytes as they flow, without those of before the sandbox', async () => {
    const { line, socket } = open('a.example');
    [socket.bytesWritten, socket.bytesRead] = [150, 7];
    await tallies.send();
    socket.bytesWritten = 151;
    now += HOUR_MS;
    await tallies.send();
    await tallies.send();
    socket.bytesRead = 10;
    tallies.carried(line);
    lines.delete(line);
    tallies.refused(line, 'rule', true);
    await tallies.send();
    expect(sent).toEqual([
      { org: 'org_1', source: SOURCE, seq: 1, rows: [row({ bytesOut: 50, bytesIn: 7 })] },
      { org: 'org_1', source: SOURCE, seq: 2, rows: [row({ hour: 8, connections: 0, bytesOut: 1 })] },
      {
        org: 'org_1',
        source: SOURCE,
        seq: 3,
        rows: [row({ hour: 8, connections: 0, bytesIn: 3 }), row({ hour: 8, verdict: 'rule', rule: '', listed: true })],
      },
    ]);
  });

  it('is sent again as it was until it is answered, then what came meanwhile, and the last at the end', async () => {
    fails = true;
    const { socket } = open('a.example');
    await tallies.send();
    socket.bytesWritten += 5;
    await tallies.send();
    expect(sent.map(({ seq, rows }) => ({ seq, rows }))).toEqual([
      { seq: 1, rows: [row({})] },
      { seq: 1, rows: [row({})] },
    ]);
    fails = false;
    await tallies.send();
    expect(sent.slice(2).map(({ seq, rows }) => ({ seq, rows }))).toEqual([
      { seq: 1, rows: [row({})] },
      { seq: 2, rows: [row({ connections: 0, bytesOut: 5 })] },
    ]);
    socket.bytesWritten += 6;
    await tallies.close();
    expect(sent.at(-1)).toMatchObject({ seq: 3, rows: [row({ connections: 0, bytesOut: 6 })] });
  });

  it('adversary: ten thousand names and ports of one sandbox are 200 rows and one for all others', async () => {
    for (let index = 0; index < 10_000; index += 1) open(`h${index % 5_000}.example`);
    open('b.example', 'cnv_2');
    await tallies.send();
    expect(sent).toHaveLength(1);
    const [rows = []] = sent.map((batch) => batch.rows);
    const own = rows.filter(({ conversation }) => conversation === 'cnv_1');
    expect(own).toHaveLength(MAX_TALLY_HOSTS + 1);
    expect(own.reduce((sum, { connections }) => sum + connections, 0)).toBe(10_000);
    expect(own.at(-1)).toMatchObject({ host: OTHER_HOSTS, port: 0 });
    expect(rows.at(-1)).toMatchObject({ conversation: 'cnv_2', host: 'b.example', connections: 1 });
  });

  it('has a bound while app-server is away: what is past it counts among all others', async () => {
    fails = true;
    for (let conversation = 0; conversation < 150; conversation += 1)
      for (let host = 0; host < 150; host += 1) open(`h${host}.example`, `cnv_${conversation}`);
    fails = false;
    await tallies.send();
    const rows = sent.flatMap((batch) => batch.rows);
    expect(Math.max(...sent.map((batch) => batch.rows.length))).toBe(1_000);
    expect(rows.length).toBeLessThanOrEqual(20_150);
    expect(rows.reduce((sum, { connections }) => sum + connections, 0)).toBe(22_500);
    // There is room again.
    open('z.example', 'cnv_z');
    await tallies.send();
    expect(sent.at(-1)?.rows).toEqual([row({ conversation: 'cnv_z', host: 'z.example' })]);
  });

  it('of one organization that is not taken keeps no other waiting, and a sandbox without a conversation is not counted', async () => {
    const refusing = new Set(['org_1']);
    const seen: string[] = [];
    const client = {
      count: async ({ org }: EgressTallyBatch): Promise<void> => {
        seen.push(org);
        if (refusing.has(org)) throw new Error('no answer');
      },
    };
    tallies = new Tallies({ client, lines, source: SOURCE, logger: createLogger('t', 'silent') });
    open('a.example');
    open('a.example', 'cnv_2', 'org_2');
    const { line } = open('a.example', 'cnv_3', 'org_3');
    tallies.refused({ ...line, claims: { ...CLAIMS, org: 'org_4' } }, 'rule', false);
    await tallies.send();
    await tallies.send();
    expect(seen).toEqual(['org_1', 'org_2', 'org_3', 'org_1']);
  });
});
