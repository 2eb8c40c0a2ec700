import { describe, it } from 'node:test';
import { expect } from 'expect';
import fc from 'fast-check';
import { DeltaMask } from './delta-mask.js';
import { HIDDEN, SecretMask } from './secret-mask.js';

describe('secrets', () => {
  it('never leave in pieces of text, however the text is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('abcd1234', 'abcd', 'x', 'ab', '1234', '-'), { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (words, cuts) => {
          const mask = new SecretMask();
          mask.add(['abcd1234', 'abcd-x']);
          const text = words.join('');
          const deltas = new DeltaMask(mask);
          let shown = '';
          let at = 0;
          for (let index = 0; at < text.length; index += 1) {
            const piece = text.slice(at, at + (cuts[index % cuts.length] as number));
            const out = deltas.next({ responseId: 'r', channel: 'content', offset: at, text: piece });
            if (out !== null) {
              expect(out.offset).toBe(shown.length);
              shown += out.text;
            }
            at += piece.length;
          }
          expect(shown).not.toContain('abcd1234');
          expect(shown).not.toContain('abcd-x');
          expect(mask.text(text).startsWith(shown)).toBe(true);
        },
      ),
    );
  });

  it('are hidden wherever text stands in an event, and what binds events together is left alone', () => {
    const mask = new SecretMask();
    mask.add(['terminal', 'sekret']);
    const event = {
      id: 'sekret',
      timestamp: 't',
      source: 'agent',
      kind: 'AgentErrorEvent',
      tool_name: 'terminal',
      tool_call_id: 'sekret',
      error: 'in sekret',
    } as never;
    expect(mask.event(event)).toEqual({
      id: 'sekret',
      timestamp: 't',
      source: 'agent',
      kind: 'AgentErrorEvent',
      tool_name: HIDDEN,
      tool_call_id: 'sekret',
      error: `in ${HIDDEN}`,
    });
  });
});
