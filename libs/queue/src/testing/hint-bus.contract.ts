import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Hint } from '@slipway/contracts/events';
import { until } from '@slipway/testing';
import { createHintBus } from '../create.js';
import type { HintBus } from '../hint-bus.js';
import type { Scenario } from './scenario.js';

const eventsHint = (conversationId: string, head: number): Hint => ({
  kind: 'events',
  orgId: 'org_test',
  conversationId,
  head,
  from: 'replica-a',
});

/** The contract of `HintBus`, for one backend. */
export function describeHintBus(backend: string, open: () => Promise<Scenario>): void {
  describe(`HintBus on ${backend}`, () => {
    let scenario: Scenario;
    let a: HintBus;
    let b: HintBus;
    const heardByA: Hint[] = [];
    const heardByB: Hint[] = [];
    const connected = async (): Promise<void> => {
      const id = randomUUID();
      await until(
        'both ends hear',
        () => {
          a.publish(eventsHint(id, 1));
          b.publish(eventsHint(id, 2));
          const both = (heard: Hint[]): boolean =>
            [1, 2].every((head) =>
              heard.some((hint) => hint.kind === 'events' && hint.conversationId === id && hint.head === head),
            );
          return both(heardByA) && both(heardByB);
        },
        15_000,
      );
    };

    beforeAll(async () => {
      scenario = await open();
      a = createHintBus(scenario.options);
      b = createHintBus(scenario.options);
      a.subscribe(() => {
        throw new Error('a listener that fails');
      });
      a.subscribe((hint) => void heardByA.push(hint));
      b.subscribe((hint) => void heardByB.push(hint));
      await connected();
    });
    afterAll(async () => {
      await Promise.all([a.close(), b.close()]);
      await scenario.close();
    });

    it('brings the hints of one process to all others in order', async () => {
      const id = randomUUID();
      for (let head = 1; head <= 300; head += 1) a.publish(eventsHint(id, head));
      const heads = (): number[] =>
        heardByB.flatMap((hint) => (hint.kind === 'events' && hint.conversationId === id ? [hint.head] : []));
      await until('all of them', () => heads().length === 300);
      expect(heads()).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    });

    it('brings a delta of any length, in pieces that join to the same text', async () => {
      const text = '😀é"\n'.repeat(10_000);
      a.publish({
        kind: 'delta',
        orgId: 'org_test',
        conversationId: randomUUID(),
        from: 'replica-a',
        delta: { responseId: 'long', channel: 'content', offset: 7, text },
      });
      const pieces = () =>
        heardByB.flatMap((hint) => (hint.kind === 'delta' && hint.delta.responseId === 'long' ? [hint.delta] : []));
      await until(
        'the whole text',
        () => pieces().reduce((length, piece) => length + piece.text.length, 0) === text.length,
      );
      let next = 7;
      for (const piece of pieces()) {
        expect(piece.offset).toBe(next);
        next += piece.text.length;
      }
      expect(
        pieces()
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text);
    });

    it('stops calling a listener that has left', async () => {
      const heard: Hint[] = [];
      const leave = b.subscribe((hint) => void heard.push(hint));
      leave();
      await connected();
      expect(heard).toEqual([]);
    });

    it('receives again after every connection was cut, and has listeners read what they missed', async () => {
      let missed = 0;
      const leave = b.subscribe(
        () => {},
        () => {
          missed += 1;
        },
      );
      await connected();
      expect(missed).toBe(0);
      await scenario.cutConnections();
      await connected();
      await until('the miss is reported', () => missed > 0);
      leave();
    });

    it('reports how long publish to heard takes', async () => {
      const times: number[] = [];
      for (let round = 1; round <= 100; round += 1) {
        const id = randomUUID();
        const began = performance.now();
        const heard = new Promise<void>((resolve) => {
          const leave = b.subscribe((hint) => {
            if (hint.conversationId !== id) return;
            leave();
            resolve();
          });
        });
        a.publish(eventsHint(id, round));
        await heard;
        times.push(performance.now() - began);
      }
      times.sort((x, y) => x - y);
      process.stderr.write(
        `${backend}: publish → heard p50 ${times[50]?.toFixed(1)} ms, p99 ${times[98]?.toFixed(1)} ms\n`,
      );
      expect(times[50]).toBeLessThan(200);
    });
  });
}
