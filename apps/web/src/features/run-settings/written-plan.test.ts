import { describe, expect, it } from '@jest/globals';
import type { Row, Step } from '../conversation/timeline-row.ts';
import { hasWrittenPlan } from './written-plan.ts';

const step = (action: object | null, more: object = {}): Row => ({
  kind: 'steps',
  key: 'k',
  seq: 1,
  fold: null,
  steps: [
    {
      action,
      observation: { kind: 'x', content: [], is_error: false },
      error: null,
      interrupted: false,
      ...more,
    } as unknown as Step,
  ],
});
const edit = (path: string, command = 'create') => ({ kind: 'PlanningFileEditorAction', command, path });

describe('whether there is a PLAN.md', () => {
  it('is so when the agent has written it, and not when it only read it, failed, or wrote another file', () => {
    expect(hasWrittenPlan({ rows: [step(edit('/work/PLAN.md'))] })).toBe(true);
    for (const row of [
      step(edit('/work/PLAN.md', 'view')),
      step(edit('/work/PLAN.md'), { error: 'No room.' }),
      step(edit('/work/NOTPLAN.md')),
      step({ kind: 'TerminalAction', command: 'cat PLAN.md' }),
      step(null),
    ])
      expect(hasWrittenPlan({ rows: [row] })).toBe(false);
  });
});
