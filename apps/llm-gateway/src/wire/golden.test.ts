import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Assembled, assembled } from './assembled.js';
import { withSignaturesOf } from './signatures.js';
import { SPOKEN, said, testExchange } from './test-exchange.js';
import { readRequest, type Spoken, TRANSLATORS } from './translators.js';

const FOLDER = new URL('../../src/wire/golden/', import.meta.url);
const CASES = readdirSync(FOLDER).sort();

/** Bytes; longer than some frames and shorter than others. */
const STRIDE = 61;

interface Cell {
  readonly request: unknown;
  readonly whole: unknown;
  readonly stream: readonly string[];
}

const file = (name: string, place: string): Buffer => readFileSync(new URL(`${name}/${place}`, FOLDER));
const object = (name: string, place: string): Record<string, unknown> =>
  JSON.parse(file(name, place).toString('utf8')) as Record<string, unknown>;
/** A moment of ours, where the provider does not say when it answered. */
const timeless = (text: string): string => text.replace(/"created(_at)?":\d+/g, '"created$1":0');
const request = (name: string, caller: Spoken, stream: boolean): object => ({
  ...object(name, `request.${caller}.json`),
  stream,
  ...(stream && caller === 'chat' ? { stream_options: { include_usage: true } } : {}),
});
/** What was said, whatever it was cut into and is called by. */
const meaning = (answer: Assembled): unknown => ({
  parts: answer.parts.map((part) => ({ ...part, id: '' })),
  // Only messages says which part of the cache is for an hour.
  usage: answer.usage === null ? null : { ...answer.usage, cacheWriteHourTokens: 0 },
  reason: answer.reason,
  stopSequence: answer.stopSequence,
});
const read = (dialect: Spoken, stream: string): Assembled => {
  const reader = TRANSLATORS[dialect].answerReader();
  return assembled([...reader.push(Buffer.from(stream)), ...reader.end()]);
};

function cell(name: string, caller: Spoken, spoken: Spoken): Cell {
  const plain = testExchange(caller, request(name, caller, false), spoken);
  const streamed = testExchange(caller, request(name, caller, true), spoken);
  return {
    request: JSON.parse(plain.body.toString('utf8')),
    whole: JSON.parse(timeless(plain.answer.whole(file(name, `answer.${spoken}.json`)).toString('utf8'))),
    stream: timeless(said(streamed.answer, file(name, `answer.${spoken}.sse`))).split(/(?<=\n\n)/),
  };
}

describe('what a caller of one dialect gets from a provider of another', () => {
  for (const name of CASES) {
    it(`is what is written in golden/${name}`, () => {
      const cells: Record<string, Cell> = {};
      for (const caller of SPOKEN)
        for (const spoken of SPOKEN)
          if (caller !== spoken) cells[`${caller} from ${spoken}`] = cell(name, caller, spoken);
      // The way to rewrite them, to be read before they are committed.
      if (process.env['WRITE_GOLDEN'] === 'yes')
        writeFileSync(new URL(`${name}/cells.json`, FOLDER), `${JSON.stringify(cells, null, 2)}\n`);
      expect(cells).toEqual(object(name, 'cells.json'));
    });

    it(`is the same wherever the stream is cut (${name})`, () => {
      for (const caller of SPOKEN) {
        for (const spoken of SPOKEN) {
          const bytes = file(name, `answer.${spoken}.sse`);
          const asked = request(name, caller, true);
          const run = (places: readonly number[]): string => {
            const { answer } = testExchange(caller, asked, spoken);
            const text = timeless(said(answer, bytes, places));
            return JSON.stringify([
              text,
              answer.usage,
              answer.characters,
              answer.bytes,
              answer.frames,
              answer.begun,
              answer.complete,
              answer.error,
            ]);
          };
          const whole = run([]);
          // Each place is a cut in one of these runs.
          const wrong = Array.from({ length: STRIDE }, (_, first) => first).filter(
            (first) => run(Array.from(bytes.keys()).filter((place) => place % STRIDE === first)) !== whole,
          );
          expect([caller, spoken, wrong]).toEqual([caller, spoken, []]);
          expect(run(Array.from(bytes.keys()))).toBe(whole);
        }
      }
    });

    it(`passes through untouched between equals (${name})`, () => {
      for (const dialect of SPOKEN) {
        const bytes = file(name, `answer.${dialect}.sse`);
        const streamed = testExchange(dialect, request(name, dialect, true), dialect);
        expect(streamed.answer.push(bytes)).toBe(bytes);
        expect(streamed.answer.end()).toBeNull();
        const plain = testExchange(dialect, request(name, dialect, false), dialect, { model: 'asked' });
        const asked = request(name, dialect, false);
        // All but that nothing is kept at the provider.
        expect(plain.body.toString('utf8')).toBe(
          JSON.stringify(dialect === 'responses' && !('store' in asked) ? { store: false, ...asked } : asked),
        );
        const whole = file(name, `answer.${dialect}.json`);
        expect(plain.answer.whole(whole)).toBe(whole);
      }
    });

    it(`is counted as the provider counted, streamed or not, translated or not (${name})`, () => {
      for (const spoken of SPOKEN) {
        const counts = SPOKEN.flatMap((caller) => {
          const streamed = testExchange(caller, request(name, caller, true), spoken);
          const plain = testExchange(caller, request(name, caller, false), spoken);
          said(streamed.answer, file(name, `answer.${spoken}.sse`));
          plain.answer.whole(file(name, `answer.${spoken}.json`));
          expect([streamed.answer.begun, streamed.answer.complete, streamed.answer.error]).toEqual([true, true, null]);
          return [streamed.answer.usage, plain.answer.usage];
        });
        expect(counts[0]).not.toBeNull();
        expect(counts).toEqual(counts.map(() => counts[0]));
      }
    });

    it(`means what the provider said, read again by the caller's own reader (${name})`, () => {
      for (const caller of SPOKEN) {
        for (const spoken of SPOKEN.filter((dialect) => dialect !== caller)) {
          const from = read(spoken, file(name, `answer.${spoken}.sse`).toString('utf8'));
          const to = read(caller, cell(name, caller, spoken).stream.join(''));
          expect([caller, spoken, sayable(to)]).toEqual([caller, spoken, sayable(from)]);
        }
      }
    });
  }

  it('says a request that was made for every dialect in the same turns', () => {
    for (const name of ['text', 'tools']) {
      const turns = SPOKEN.map((dialect) =>
        withSignaturesOf(readRequest(dialect, file(name, `request.${dialect}.json`)), 'anthropic'),
      );
      const common = turns.map(({ system, turns: all, tools, maxOutputTokens, user }) => ({
        system,
        // Only messages can mark a failed tool, and chat separates the user's next message.
        turns: JSON.stringify(all.flatMap(({ parts }) => parts)).replaceAll('"isError":true', '"isError":false'),
        tools: tools.map(({ name: tool, description, parameters }) => ({ tool, description, parameters })),
        maxOutputTokens,
        user,
      }));
      expect(common[1]).toEqual(common[0]);
      expect(common[2]).toEqual(common[0]);
    }
  });
});

/** Without what not every dialect has: messages has no refusal of its own, and signatures carry their origin. */
function sayable(answer: Assembled): unknown {
  const bare = (signature: string): string => signature.replace(/^@slipway\.[a-z]+\./, '');
  return meaning({
    ...answer,
    parts: answer.parts.map((part) => {
      if (part.kind === 'refusal') return { ...part, kind: 'text' };
      if (part.kind === 'thinking' && part.signature !== null) return { ...part, signature: bare(part.signature) };
      return part.kind === 'redacted' ? { ...part, data: bare(part.data) } : part;
    }),
  });
}
