import { describe, expect, it } from '@jest/globals';
import { nextOf, type Queued } from './queue.ts';

type Beside = Queued['suite']['beside'];
interface File extends Queued {
  readonly file: string;
}
const file = (name: string, beside: Beside, number: number, serial = false): File => ({
  file: `${name}/${number}`,
  suite: { name, beside, serial, built: name === 'b' },
});

/** Which files run beside each other, when each step ends the file that has run longest. */
function schedule(files: readonly File[], workers = 2): string[] {
  const pending = [...files];
  const running: File[] = [];
  const next = (): File | undefined => nextOf(pending, { running, workers, prepared: true });
  const steps: string[] = [];
  while (pending.length > 0 || running.length > 0) {
    for (let begun = next(); begun !== undefined; begun = next()) {
      pending.splice(pending.indexOf(begun), 1);
      running.push(begun);
    }
    steps.push(running.map((each) => each.file).join(' + '));
    if (running.shift() === undefined) throw new Error(`nothing runs and ${pending.length} are left`);
  }
  return steps;
}

describe('the queue of test files', () => {
  it('runs files of any suites beside each other, those of a serial one after each other', () => {
    expect(
      schedule([file('s', 'any', 1, true), file('s', 'any', 2, true), file('a', 'any', 1), file('a', 'any', 2)]),
    ).toEqual(['s/1 + a/1', 'a/1 + s/2', 's/2 + a/2', 'a/2']);
  });

  it('runs a waiting file beside one light one, then light ones beside each other', () => {
    const files = [file('l', 'light', 1), file('l', 'light', 2), file('w', 'waiting', 1, true), file('m', 'light', 3)];
    expect(schedule(files, 3)).toEqual(['w/1 + l/1', 'l/1 + l/2 + m/3', 'l/2 + m/3', 'm/3']);
  });

  it('begins neither what needs a built program nor a later stage while it is built', () => {
    const [needs, other, light] = [file('b', 'any', 1), file('a', 'any', 1), file('l', 'light', 1)];
    const unbuilt = { running: [], workers: 2, prepared: false };
    expect(nextOf([needs, other, light], unbuilt)).toBe(other);
    expect(nextOf([needs, light], unbuilt)).toBeUndefined();
    expect(nextOf([light], unbuilt)).toBeUndefined();
    expect(nextOf([needs, light], { ...unbuilt, prepared: true })).toBe(needs);
  });

  it('begins no stage before the one before has ended, and leaves the last alone', () => {
    const files = [file('x', 'alone', 1), file('x', 'alone', 2), file('l', 'light', 1), file('a', 'any', 1)];
    expect(schedule(files, 4)).toEqual(['a/1', 'l/1', 'x/1', 'x/2']);
  });
});
