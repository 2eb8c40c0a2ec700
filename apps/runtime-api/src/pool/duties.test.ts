import { describe, expect, it } from '@jest/globals';
import type { Logger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { Duties, type Duty } from './duties.js';

const HOUR = 3_600_000;

describe('the duties of the leader', () => {
  const said: string[] = [];
  const say = (_about: unknown, text?: string): void => void said.push(text ?? String(_about));
  const logger = { warn: say, info: say } as unknown as Logger;
  const signal = new AbortController().signal;
  const counted = (sooner?: Duty['sooner']): { duty: Duty; ran: () => number } => {
    let ran = 0;
    const work = async (): Promise<void> => {
      ran += 1;
    };
    return {
      duty: { name: `duty${sooner?.on ?? ''}`, everyMs: HOUR, work, ...(sooner === undefined ? {} : { sooner }) },
      ran: () => ran,
    };
  };

  it('are done at once, then when their time has come or a hint concerns them', async () => {
    const duties = new Duties(logger, signal, () => {});
    const plain = counted();
    const onChange = counted({ on: 'change', soonestMs: 0 });
    const onReady = counted({ on: 'ready', soonestMs: 0 });
    duties.begin([plain.duty, onChange.duty, onReady.duty]);
    duties.runDue(signal);
    await until('each was done', () => plain.ran() === 1 && onChange.ran() === 1 && onReady.ran() === 1);
    duties.hint('change');
    duties.runDue(signal);
    duties.runDue(signal);
    await until('the change was looked at', () => onChange.ran() === 2);
    expect([plain.ran(), onReady.ran()]).toEqual([1, 1]);
  });

  it('do not lose a hint that comes too soon after the last time', async () => {
    const duties = new Duties(logger, signal, () => {});
    const often = counted({ on: 'change', soonestMs: 30 });
    duties.begin([often.duty]);
    duties.runDue(signal);
    duties.hint('change');
    duties.runDue(signal);
    expect(often.ran()).toBe(1);
    await until('it is done later', () => {
      duties.runDue(signal);
      return often.ran() === 2;
    });
  });

  it('say a failure once, and that it is over', async () => {
    const duties = new Duties(logger, signal, () => {});
    let fails = true;
    let ran = 0;
    const work = async (): Promise<void> => {
      ran += 1;
      if (fails) throw new Error('the API server is away');
    };
    duties.begin([{ name: 'looking', everyMs: 0, work }]);
    said.length = 0;
    const again = (): Promise<unknown> => {
      const before = ran;
      return until('it is done again', () => {
        duties.runDue(signal);
        return ran > before;
      });
    };
    for (let time = 0; time < 3; time += 1) await again();
    expect(said).toEqual(['looking failed, will retry']);
    fails = false;
    for (let time = 0; time < 3; time += 1) await again();
    expect(said).toEqual(['looking failed, will retry', 'looking recovered']);
  });
});
