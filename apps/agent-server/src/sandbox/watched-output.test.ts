import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { watched } from './watched-output.js';

type Answer = { status: number; body: unknown };
const text = (value: string, end: number, over = false): Answer => ({ status: 200, body: { text: value, end, over } });
const UNKNOWN: Answer = { status: 404, body: { code: 'resource.not-found' } };

/** A tool process that gives these answers one after another, then none until it is asked no more. */
function toolsWith(...answers: (Answer | Error)[]): {
  asked: string[];
  request: Parameters<typeof watched>[0]['request'];
} {
  const asked: string[] = [];
  return {
    asked,
    request: async (_method, path, _body, signal) => {
      asked.push(path);
      const answer =
        answers.shift() ??
        (await new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

describe('the output of a call under way', () => {
  it('is shown although the tool process did not have the call yet when it was asked first, or broke off', async () => {
    const tools = toolsWith(UNKNOWN, new Error('cut'), text('first', 5), text(' second', 12));
    const work = Promise.withResolvers<string>();
    let output = '';
    const watch = {
      call: 'c1',
      output: (piece: string): void => {
        output += piece;
      },
    };
    const done = watched(tools, watch, new AbortController().signal, () => work.promise);
    await until('the output', () => output === 'first second');
    work.resolve('answer');
    expect(await done).toBe('answer');
    expect(tools.asked.at(-1)).toContain('after=12');
  });

  it('is asked for no more once it is over, or the call has its answer', async () => {
    const tools = toolsWith(text('all', 3, true));
    const work = Promise.withResolvers<string>();
    const done = watched(
      tools,
      { call: 'c1', output: () => work.resolve('answer') },
      new AbortController().signal,
      () => work.promise,
    );
    expect(await done).toBe('answer');
    expect(tools.asked.length).toBe(1);
  });
});
