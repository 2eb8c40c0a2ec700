import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { ConversationHub } from './conversation-hub.js';
import { type LogLine, logLine } from './log-line.js';

const ID = '01999999-9999-7999-8999-999999999999';
const line = (seq: number): LogLine => logLine(ID, seq, 1, '{"kind":"PauseEvent"}');

/** A hub whose log has these lines, and the times of its deliveries. Seconds. */
function harness(log: readonly LogLine[]): { hub: ConversationHub; delivered: number[] } {
  const delivered: number[] = [];
  const hub = new ConversationHub('org_1', ID, 0, {
    read: async (after) => log.filter(({ seq }) => seq > after),
    failed: () => {},
    delivered: (seconds) => delivered.push(seconds),
  });
  return { hub, delivered };
}

describe('the time of a delivery', () => {
  it('begins with the commit that a hint of another replica names, however late the hint is', async () => {
    const { hub, delivered } = harness([line(1), line(2)]);
    hub.listen({ lines: () => {} });
    await hub.behind(2, performance.now() - 5_000);
    await until('they went out', () => hub.head === 2);
    expect(delivered).toEqual([expect.any(Number)]);
    expect(delivered[0]).toBeGreaterThanOrEqual(5);
    // The next one has a time of its own.
    hub.offer([line(3)]);
    await until('it went out', () => hub.head === 3);
    expect(delivered[1]).toBeLessThan(5);
  });

  it('is that of the oldest line of those that go out together', async () => {
    const { hub, delivered } = harness([]);
    hub.listen({ lines: () => {} });
    hub.offer([line(1)]);
    hub.offer([line(2)], performance.now() - 60_000);
    hub.offer([line(3)]);
    await until('they went out', () => hub.head === 3);
    expect(Math.max(...delivered)).toBeGreaterThanOrEqual(60);
  });

  it('is counted where there are readers, and nowhere else', async () => {
    const { hub, delivered } = harness([line(1)]);
    await hub.behind(1);
    await until('it was read', () => hub.head === 1);
    expect(delivered).toEqual([]);
  });
});
