import { describe, expect, it } from '@jest/globals';
import { en } from '../../messages/en/index.ts';
import type { Translate } from '../../messages/translate.ts';
import { stopReasonWords } from './status-label.ts';

const t = ((key: string, values: Record<string, string> = {}) => {
  const [feature = '', name = ''] = key.split('.');
  const message = (en as unknown as Record<string, Record<string, string>>)[feature]?.[name] ?? key;
  return message.replace(/\{(\w+)\}/g, (_whole, argument: string) => values[argument] ?? '');
}) as unknown as Translate;
const words = (code: string | null, by: string | null = null) =>
  stopReasonWords(t, { status: 'stopped', stopReason: { code, by } });

describe('the reason beside a status in the list', () => {
  it('names the user, a limit in short, and a failure by its title; a code of a newer server says nothing', () => {
    expect(words(null, 'Ana')).toBe('Stopped by Ana');
    expect(stopReasonWords(t, { status: 'paused', stopReason: { code: null, by: 'Ana' } })).toBe('Paused by Ana');
    expect(words('budget.exhausted')).toBe('Budget used up');
    expect(words('agent.budget-limit')).toBe('Budget used up');
    expect(words('agent.iteration-limit')).toBe('Steps used up');
    expect(words('repository.unreachable')).toMatch(/^\w/);
    expect(words('code.of-tomorrow')).toBeNull();
    expect(stopReasonWords(t, { status: 'failed', stopReason: null })).toBeNull();
  });
});
