import { describe, expect, it } from '@jest/globals';
import { MAX_ASKER_LINE } from '@slipway/contracts/sandboxes';
import fc from 'fast-check';
import { askedByOf, COMMAND_JSON } from './asked-by.js';

const of = (command: string): string =>
  askedByOf({
    action_id: 'x',
    asker_seq: '7',
    asker_command: JSON.stringify(command).replaceAll('\\u', '/u').slice(0, COMMAND_JSON),
  })?.line ?? '';

describe('who asked for a host', () => {
  it('is the first line of its command, whatever is in it', () => {
    expect(of('npm ci\nnpm test')).toBe('npm ci');
    expect(of('\n\n \tcd web &&\r\nnpm ci')).toBe('cd web &&');
    expect(of('echo "a\\nb" \u0000 \u001b[31m \u202e <b>*x*</b>')).toBe(
      'echo "a\\nb" \u0000 \u001b[31m \u202e <b>*x*</b>',
    );
    expect(of('')).toBe('');
    expect(of('printf "\\u0000 /u0041"')).toBe('printf "/u0000 /u0041"');
  });

  it('ends after 200 code units, with a whole character, however the text was cut before', () => {
    expect(of('x'.repeat(90_000))).toBe(`${'x'.repeat(MAX_ASKER_LINE - 1)}…`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(500), (text, cut) => {
        const json = JSON.stringify(text).replaceAll('\\u', '/u').slice(0, cut);
        const line = askedByOf({ action_id: null, asker_seq: '1', asker_command: json })?.line ?? '';
        expect(line.length).toBeLessThanOrEqual(MAX_ASKER_LINE);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/[\r\n\u2028\u2029]/);
      }),
    );
  });

  it('is nobody for an id that is none of the conversation, and a word for what is no action', () => {
    const none = { asker_seq: null, asker_command: null };
    expect(askedByOf({ action_id: 'terminal', ...none })).toEqual({ kind: 'terminal', line: '', seq: null });
    for (const id of [null, '0197c0de-0000-7000-8000-000000000001', 'action', 'constructor'])
      expect(askedByOf({ action_id: id, ...none })).toBeNull();
  });
});
