import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { CompletionAssembler, CUT_OFF } from './completion-assembler.js';

const chunk = (calls: unknown[], finish: string | null = null) => ({
  id: 'r',
  choices: [{ delta: { tool_calls: calls }, finish_reason: finish }],
});
const call = (index: unknown, text: string) => ({
  index,
  id: `c${String(index)}`,
  function: { name: 'terminal', arguments: text },
});
const refuse = (): SlipwayError => new SlipwayError('model.bad-response', 'refused');

describe('the tool calls of a streamed answer', () => {
  it('stay apart, also when there are hundreds', () => {
    const assembler = new CompletionAssembler('f', () => {});
    for (let index = 0; index < 300; index += 1) assembler.add(chunk([call(index, `{"n":${index}}`)]), refuse);
    assembler.add(chunk([], 'tool_calls'), refuse);
    expect(assembler.finish(true).toolCalls.map((one) => one.arguments)).toEqual(
      Array.from({ length: 300 }, (_, n) => `{"n":${n}}`),
    );
  });

  it('end where an answer is too long, as at a limit of the model’s own, and what follows takes no memory', () => {
    const assembler = new CompletionAssembler('f', () => {});
    assembler.add(chunk([call(0, '{"command":"')]), refuse);
    for (let index = 0; index < 100; index += 1) assembler.add(chunk([call(0, 'x'.repeat(100_000))]), refuse);
    expect(assembler.isFull).toBe(true);
    const { toolCalls, finishReason } = assembler.finish(false);
    expect([toolCalls.length, finishReason]).toEqual([1, CUT_OFF]);
    expect(toolCalls[0]?.arguments.length).toBeLessThan(4.5 * 1024 * 1024);
  });

  it('have places by their order where their index is none, and are refused where one would need a million', () => {
    const assembler = new CompletionAssembler('f', () => {});
    assembler.add(chunk([call('x', 'a'), call(-1, 'b'), call(0.5, 'c')], 'tool_calls'), refuse);
    expect(assembler.finish(true).toolCalls.map((one) => one.arguments)).toEqual(['a', 'b', 'c']);
    expect(() => assembler.add(chunk([call(1_000_000, 'd')]), refuse)).toThrow(/more than 1000 tools at once/);
  });
});
