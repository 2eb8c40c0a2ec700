import { describe, expect, it } from '@jest/globals';
import { answerHereOf } from './answer-here.ts';
import type { DeskLine } from './desk-store.ts';

const asks = (text: string, change: object = {}) =>
  ({
    decisions: [{ kind: 'approve', key: 'approve:1', seconds: 12, score: 1 }],
    mayDecide: 'yes',
    facts: { approval: { actionId: '1', tool: 'terminal', text, risk: 'LOW', actions: 1, ...change } },
  }) as unknown as DeskLine;

describe('what is answered in its row of the Desk', () => {
  it('is a single command that stands there whole, and a question', () => {
    expect(answerHereOf(asks('npm publish'))).toBe('approve');
    const question = { ...asks(''), decisions: [{ kind: 'answer', key: 'answer:1', seconds: 1, score: 1 }] };
    expect(answerHereOf(question as unknown as DeskLine)).toBe('reply');
  });

  it('is no command of a hostile agent that hides its end: cut, pushed out of sight, or behind other actions', () => {
    expect(answerHereOf(asks('x'.repeat(500)))).toBeNull();
    for (const end of ['\t', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'])
      expect(answerHereOf(asks(`ls${end.repeat(40)}rm -rf /`))).toBeNull();
    expect(answerHereOf(asks('ls', { actions: 2 }))).toBeNull();
    expect(answerHereOf(asks('ls', { tool: 'file_editor' }))).toBeNull();
    expect(answerHereOf(asks(' '))).toBeNull();
  });

  it('is a host that the sandbox asks for', () => {
    const egress = { requestId: '1', host: 'api.example.com', port: 443, firstTime: true, at: '', requests: 1 };
    const request = { ...asks(''), decisions: [{ kind: 'allow', key: 'allow:1', seconds: 1, score: 1 }] };
    expect(answerHereOf({ ...request, facts: { egress } } as unknown as DeskLine)).toBe('allow');
    expect(answerHereOf({ ...request, mayDecide: 'permission', facts: { egress } } as unknown as DeskLine)).toBeNull();
    expect(answerHereOf({ ...request, facts: { egress: null } } as unknown as DeskLine)).toBeNull();
  });

  it('is nothing for who may not decide', () => {
    expect(answerHereOf({ ...asks('ls'), mayDecide: 'four-eyes' })).toBeNull();
  });
});
