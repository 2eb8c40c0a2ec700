import { describe, expect, it } from '@jest/globals';
import { CallProgress } from './call-progress.js';

const soon = (): AbortSignal => AbortSignal.timeout(5_000);

describe('the progress of a call', () => {
  it('is text that only grows, in bounds, however much a server sends', async () => {
    const progress = new CallProgress();
    progress.note({ progress: 1, total: 3, message: `one\u001b[31m\u202e${'x'.repeat(10_000)}` });
    for (let n = 0; n < 100_000; n += 1) progress.note({ progress: n, message: 'more' });
    const first = await progress.since(0, soon());
    expect(first.text).toMatch(/^one \[31m x+ \(1 of 3\)\n$/);
    expect(first.text.length).toBeLessThan(400);
    // The latest word of the time between, and no more than that.
    expect(await progress.since(first.text.length, soon())).toEqual({ text: 'more (99999)\n', over: false });
    progress.note({ progress: 'strange', message: { of: 'somebody' } });
    progress.end();
    progress.note({ message: 'too late' });
    expect((await progress.since(first.text.length, soon())).over).toBe(true);
  });

  it('answers who waits when the call is over, and lets go who does not want to wait', async () => {
    const progress = new CallProgress();
    const waits = progress.since(0, soon());
    const stop = new AbortController();
    const gone = progress.since(0, stop.signal);
    stop.abort(new Error('enough'));
    await expect(gone).rejects.toThrow('enough');
    progress.end();
    expect(await waits).toEqual({ text: '', over: true });
  });
});
