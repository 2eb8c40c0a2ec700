import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type EgressBodyBatch,
  MAX_BODY_ROWS,
  MAX_CONVERSATION_BODY_ROWS,
  OTHER_HOSTS,
} from '@slipway/contracts/sandboxes';
import { createLogger } from '@slipway/telemetry';
import { BodyTallies } from './body-tallies.js';

const LINE = { claim: 'clm', org: 'org_1', conversation: 'cnv', host: 'a.example', port: 443, rule: null, tls: true };
const SOURCE = '00000000-0000-4000-8000-000000000001';
const body = (type: string, found: ReadonlyArray<readonly [string, number]> = []) => ({
  type,
  bytes: 100,
  unreadBytes: 0,
  found: new Map(found),
});

describe('counts of bodies', () => {
  let tallies: BodyTallies;
  let sent: EgressBodyBatch[];
  let isAway: (batch: EgressBodyBatch) => boolean;
  const begin = (): void => {
    sent = [];
    isAway = () => false;
    tallies = new BodyTallies({
      client: {
        countBodies: async (batch) => {
          sent.push(structuredClone(batch));
          if (isAway(batch)) throw new Error('away');
        },
      },
      source: SOURCE,
      logger: createLogger('test', 'silent'),
      now: () => 7_200_000,
    });
  };
  afterEach(() => tallies.close());

  it('are added up by host, type and folder, and sent once', async () => {
    begin();
    tallies.add(LINE, body('text/plain', [['src/web', 10]]));
    tallies.add(
      LINE,
      body('text/plain', [
        ['src/web', 5],
        ['src/billing', 40],
      ]),
    );
    await tallies.send();
    await tallies.send();
    expect(sent).toHaveLength(1);
    const row = { conversation: 'cnv', hour: 2, host: 'a.example', port: 443, type: 'text/plain', unreadBytes: 0 };
    expect(sent[0]?.rows).toEqual([
      { ...row, folder: '', requests: 2, bytes: 200, workspaceBytes: 55 },
      { ...row, folder: 'src/web', requests: 0, bytes: 0, workspaceBytes: 15 },
      { ...row, folder: 'src/billing', requests: 0, bytes: 0, workspaceBytes: 40 },
    ]);
  });

  it('that app-server did not take are sent again as they were, before any later ones', async () => {
    begin();
    isAway = () => true;
    tallies.add(LINE, body('text/plain'));
    await tallies.send();
    tallies.add(LINE, body('text/plain'));
    await tallies.send();
    isAway = () => false;
    await tallies.send();
    expect(sent.map(({ seq }) => seq)).toEqual([1, 1, 1, 2]);
    expect(sent.map(({ rows }) => rows[0]?.requests)).toEqual([1, 1, 1, 1]);
  });

  it('of an organization that cannot be counted hold up no other', async () => {
    begin();
    isAway = ({ org }) => org === 'org_1';
    for (const org of ['org_1', 'org_2']) tallies.add({ ...LINE, org }, body(''));
    await tallies.send();
    await tallies.send();
    expect(sent.map(({ org }) => org)).toContain('org_2');
  });

  it('adversary: a sandbox that names ever new types and folders has a bounded number of rows, and loses no byte', async () => {
    begin();
    for (let index = 0; index < 2_000; index += 1) tallies.add(LINE, body(`text/t${index}`, [[`f${index}`, 1]]));
    await tallies.send();
    const rows = sent.flatMap((batch) => batch.rows);
    expect(rows.length).toBeLessThanOrEqual(MAX_CONVERSATION_BODY_ROWS + 1);
    expect(sent.every((batch) => batch.rows.length <= MAX_BODY_ROWS)).toBe(true);
    const whole = rows.filter(({ folder }) => folder === '');
    expect(whole.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(200_000);
    expect(whole.reduce((sum, { workspaceBytes }) => sum + workspaceBytes, 0)).toBe(2_000);
    expect(rows.some(({ host, port }) => host === OTHER_HOSTS && port === 0)).toBe(true);
  });
});
