import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Traits } from './traits.js';
import { readRequest, type Spoken, TRANSLATORS } from './translators.js';
import type { CacheMark, Part, Tool, Turn, TurnsRequest } from './turns.js';

const TRAITS: Record<Spoken, Traits> = {
  chat: traits('effort'),
  responses: traits('effort'),
  messages: traits('budget'),
};

function traits(reasoning: Traits['reasoning']): Traits {
  return {
    model: 'm',
    chatAdditions: true,
    chatLimit: 'max_completion_tokens',
    reasoning,
    leastEffort: 'none',
    sampling: true,
    encryptedReasoning: true,
    storesChat: false,
    maxOutputTokens: 8_192,
  };
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-z_]{1,8}$/);
const id = fc.stringMatching(/^call_[a-z0-9]{1,6}$/);
const json = fc.dictionary(name, fc.oneof(fc.boolean(), fc.integer(), text, fc.array(text, { maxLength: 2 })), {
  maxKeys: 3,
});
const list = <T>(one: fc.Arbitrary<T>, min = 1): fc.Arbitrary<T[]> => fc.array(one, { minLength: min, maxLength: 3 });
const source = fc.oneof(
  fc.record({
    kind: fc.constant('base64' as const),
    mediaType: fc.constantFrom('image/png', 'application/pdf'),
    data: fc.base64String({ minLength: 4 }),
  }),
  fc.record({ kind: fc.constant('url' as const), url: fc.webUrl() }),
);

/** What a dialect can express, in our form. */
function requests(dialect: Spoken): fc.Arbitrary<TurnsRequest> {
  const marks = dialect === 'responses' ? [undefined] : [undefined, { ttl: null }, { ttl: '1h' as const }];
  const marked = <T extends object>(part: fc.Arbitrary<T>): fc.Arbitrary<T & { cache?: CacheMark }> =>
    fc
      .tuple(part, fc.constantFrom(...marks))
      .map(([one, cache]) => ({ ...one, ...(cache === undefined ? {} : { cache }) }));
  const words = text.map((said): Part => ({ kind: 'text', text: said }));
  const block = marked(words as fc.Arbitrary<Extract<Part, { kind: 'text' }>>);
  const image = marked(
    source.map(
      (from): Part => ({ kind: 'image', source: from, ...(dialect === 'messages' ? {} : { detail: 'auto' }) }),
    ),
  );
  const thinking = fc.record({ kind: fc.constant('thinking' as const), text, signature: text });
  const redacted = text.map((data): Part => ({ kind: 'redacted', data }));
  const call = marked(
    fc.record({
      kind: fc.constant('tool-call' as const),
      id,
      name,
      arguments: json.map((value) => JSON.stringify(value)),
    }),
  );
  const result = marked(
    fc.record({
      kind: fc.constant('tool-result' as const),
      callId: id,
      parts: words.map((one) => [one]) as fc.Arbitrary<Extract<Part, { kind: 'tool-result' }>['parts']>,
      isError: dialect === 'messages' ? fc.boolean() : fc.constant(false),
    }),
  );
  // Chat has one place for all reasoning, before the words, and those before the calls.
  const assistant: fc.Arbitrary<Part[]> = fc
    .tuple(list(dialect === 'responses' ? thinking : fc.oneof(thinking, redacted), 0), words, list(call, 0))
    .map(([thought, said, calls]): Part[] => [...thought, said, ...calls]);
  const user: fc.Arbitrary<Part[]> = fc.oneof(list(fc.oneof(block, image)), list(result)).map((parts): Part[] => parts);
  const turns = fc.array(fc.tuple(user, assistant), { minLength: 1, maxLength: 3 }).map((pairs) =>
    pairs.flatMap(([asked, answered]): Turn[] => [
      { role: 'user', parts: asked },
      { role: 'assistant', parts: answered },
    ]),
  );
  const tool: fc.Arbitrary<Tool> = marked(
    fc.record({
      name,
      description: fc.option(text),
      parameters: json.map((properties) => ({ type: 'object', properties })),
      strict: dialect === 'responses' ? fc.boolean() : fc.constant(null),
    }),
  );
  const toolChoice = fc.option(
    fc.oneof(
      fc.constantFrom({ kind: 'auto' as const }, { kind: 'required' as const }),
      name.map((of) => ({ kind: 'tool' as const, name: of })),
    ),
  );
  const budget = { on: true, effort: null, budgetTokens: 2_000, summary: null };
  const effort = { on: true, effort: 'low', budgetTokens: null, summary: null };
  return fc
    .record({
      source: fc.constant(dialect),
      model: fc.constant('m'),
      stream: fc.boolean(),
      system: fc.oneof(
        fc.constant([]),
        words.map((one) => [one as Extract<Part, { kind: 'text' }>]),
      ),
      turns,
      tools: list(tool),
      toolChoice,
      parallelToolCalls: fc.option(fc.boolean()),
      maxOutputTokens: fc.integer({ min: 4_000, max: 9_000 }),
      sampling: fc.record({ temperature: fc.constantFrom(0, 0.5, 1) }, { requiredKeys: [] }),
      stop: dialect === 'responses' ? fc.constant([]) : list(text, 0),
      reasoning: fc.constantFrom(null, dialect === 'messages' ? budget : effort),
      responseFormat: fc.option(
        json.map((schema) => ({
          kind: 'json-schema' as const,
          name: 'answer',
          description: null,
          schema,
          strict: dialect === 'messages' ? null : true,
        })),
      ),
      user: fc.option(text),
      metadata: fc.constant({}),
      serviceTier: fc.constantFrom(null, 'auto', 'default'),
      extras: fc.constant(dialect === 'responses' ? { store: false } : { some_field_of_tomorrow: { a: 1 } }),
    })
    .map(({ sampling, ...request }) => ({
      ...request,
      includeUsage: dialect !== 'chat' || request.stream,
      // Anthropic takes no choice of a tool and no temperature together with reasoning.
      ...(dialect === 'messages' && request.reasoning !== null
        ? { sampling: {}, toolChoice: { kind: 'auto' as const } }
        : { sampling }),
    }))
    .map(
      (request): TurnsRequest =>
        dialect === 'messages' && request.parallelToolCalls !== null && request.toolChoice === null
          ? { ...request, toolChoice: { kind: 'auto' } }
          : request,
    );
}

describe('a request that is read and written again in its own dialect', () => {
  for (const dialect of ['chat', 'responses', 'messages'] as const) {
    it(`is the same, and so are its turns (${dialect})`, () => {
      const { writeRequest } = TRANSLATORS[dialect];
      fc.assert(
        fc.property(requests(dialect), (request) => {
          const body = JSON.parse(JSON.stringify(writeRequest(request, TRAITS[dialect]))) as object;
          const again = readRequest(dialect, Buffer.from(JSON.stringify(body)));
          expect(again).toEqual(request);
          expect(JSON.parse(JSON.stringify(writeRequest(again, TRAITS[dialect])))).toEqual(body);
        }),
        { numRuns: 150 },
      );
    });

    it(`keeps its turns on the way through every other dialect (${dialect})`, () => {
      fc.assert(
        fc.property(requests(dialect), fc.constantFrom<Spoken>('chat', 'responses', 'messages'), (request, other) => {
          const sent = { ...request, stop: [], extras: {} };
          const there = readRequest(
            other,
            Buffer.from(JSON.stringify(TRANSLATORS[other].writeRequest(sent, TRAITS[other]))),
          );
          expect(words(there.turns)).toEqual(words(request.turns));
          expect(calls(there.turns)).toEqual(calls(request.turns));
          expect(there.tools.map(({ name: of, parameters }) => [of, parameters])).toEqual(
            request.tools.map(({ name: of, parameters }) => [of, parameters]),
          );
          expect(there.maxOutputTokens).toBe(request.maxOutputTokens);
        }),
        { numRuns: 150 },
      );
    });
  }
});

const words = (turns: readonly Turn[]): unknown =>
  turns.flatMap(({ role, parts }) => parts.flatMap((part) => (part.kind === 'text' ? [[role, part.text]] : [])));
const calls = (turns: readonly Turn[]): unknown =>
  turns.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.kind === 'tool-call') return [[part.id, part.name, JSON.parse(part.arguments) as unknown]];
      return part.kind === 'tool-result'
        ? [[part.callId, part.parts.map((one) => ('text' in one ? one.text : one.kind))]]
        : [];
    }),
  );
