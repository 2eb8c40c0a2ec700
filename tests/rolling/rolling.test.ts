import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { cleanExitOf, DEPLOYMENTS, type Deployment } from './fleet.ts';
import { OpenRolling } from './open-rolling.ts';

/** Longest that a reader may be without its conversation. Milliseconds. */
const RESUME_MS = 2_000;
const PROXIES: readonly Deployment[] = ['sandbox-gateway', 'web'];

jest.setTimeout(240_000);

describe('an upgrade in the middle of the day: every deployment rolls while eight conversations work and twenty requests a second come', () => {
  let rolling: OpenRolling;

  beforeAll(async () => {
    rolling = await OpenRolling.open({ conversations: 8, perSecond: 20 });
  });
  afterAll(() => rolling?.close());

  it('costs no request that is repeated, no page, no event, and no reader and no socket into a sandbox more than two seconds', async () => {
    // Those that do the work all at once, as `helm upgrade` does, then the two proxies: on two cores, more processes
    // that start together would be what is measured.
    for (const wave of [DEPLOYMENTS.filter((name) => !PROXIES.includes(name)), PROXIES]) {
      const exits = await Promise.all(wave.map((name) => rolling.fleet.roll(name)));
      for (const [index, name] of wave.entries()) {
        const clean = { code: cleanExitOf(name), signal: null, afterMs: expect.any(Number) };
        expect([name, exits[index]]).toEqual([name, [clean, clean]]);
      }
    }
    await rolling.goesOn('after the upgrade');
    const outages = rolling.takeOutages();
    expect(outages.length).toBeGreaterThanOrEqual(rolling.talks.length);
    expect(outages.filter(({ shownMs }) => shownMs > RESUME_MS)).toEqual([]);
    const sandboxSocketOutages = rolling.takeSandboxSocketOutages();
    expect(sandboxSocketOutages.length).toBeGreaterThanOrEqual(rolling.sandboxSockets.length);
    expect(sandboxSocketOutages.filter(({ shownMs }) => shownMs > RESUME_MS)).toEqual([]);
    // Given a resume point, none was merely cut.
    expect([...new Set(rolling.sandboxSockets.flatMap(({ codes }) => codes))]).toEqual([1012]);
    expect(rolling.load.counts.requests).toBeGreaterThan(100);
    expect(rolling.load.counts.failed).toEqual([]);
    expect(await rolling.finish()).toEqual([]);
    expect(rolling.load.counts.failed).toEqual([]);
  });
});
