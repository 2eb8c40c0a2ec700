import { describe, expect, it } from '@jest/globals';
import type { WorkspacePrints } from '@slipway/contracts/sandboxes';
import { createLogger } from '@slipway/telemetry';
import { Workspaces } from './workspaces.js';

const LINE = { claim: 'clm', org: 'org_1', conversation: 'cnv', host: 'a.example', port: 443, rule: null, tls: true };
const MIB = 1024 * 1024;
const SAID: WorkspacePrints = { window: 64, folders: ['.'], prints: 'AQAAAA==', owners: 'AA==', cut: false };

function workspaces(ask: () => Promise<WorkspacePrints | null>) {
  const state = { now: 0, asked: 0 };
  const known = new Workspaces({
    ask: () => {
      state.asked += 1;
      return ask();
    },
    logger: createLogger('test', 'silent'),
    now: () => state.now,
    pause: async (ms) => {
      state.now += ms;
    },
  });
  return { state, known };
}

describe('fingerprints of a workspace', () => {
  it('are asked for once by bodies at the same time, and again after 10 s', async () => {
    const { state, known } = workspaces(async () => SAID);
    const [one, other] = await Promise.all([known.of(LINE), known.of(LINE)]);
    expect([one === other, one?.folderOf(1), state.asked]).toEqual([true, 0, 1]);
    state.now = 9_999;
    await known.of(LINE);
    expect(state.asked).toBe(1);
    state.now = 10_000;
    await known.of(LINE);
    expect(state.asked).toBe(2);
    await known.of({ ...LINE, claim: 'clm_next' });
    expect(state.asked).toBe(3);
    known.close();
  });

  it('of a sandbox that fails are asked for four times, and then not for 30 s', async () => {
    const { state, known } = workspaces(() => Promise.reject(new Error('away')));
    expect(await known.of(LINE)).toBeNull();
    expect(state.asked).toBe(4);
    state.now += 25_000;
    expect(await known.of(LINE)).toBeNull();
    expect(state.asked).toBe(4);
    state.now += 5_000;
    await known.of(LINE);
    expect(state.asked).toBe(8);
    known.close();
  });
});

describe('bytes that are compared', () => {
  it('are 16 MiB of one conversation at once and 1 MiB a second, and 64 MiB of all', () => {
    const { state, known } = workspaces(async () => SAID);
    const takes = (conversation: string, bytes: number) => known.take({ ...LINE, conversation }, bytes);
    expect([takes('a', 16 * MIB), takes('a', 1)]).toEqual([true, false]);
    state.now = 1_000;
    expect([takes('a', MIB), takes('a', 1)]).toEqual([true, false]);
    // A conversation that was refused takes nothing from the others.
    for (const conversation of ['b', 'c', 'd']) expect(takes(conversation, 16 * MIB)).toBe(true);
    expect(takes('e', 16 * MIB)).toBe(false);
    state.now = 2_000;
    expect(takes('e', 16 * MIB)).toBe(true);
    known.close();
  });
});
