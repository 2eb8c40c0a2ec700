import { describe, expect, it } from '@jest/globals';
import { AgentAction } from '@slipway/contracts/actions';
import fc from 'fast-check';
import { t } from '../../messages/testing.ts';
import type { Step } from '../conversation/timeline-row.ts';
import { actionAsText, actionParts } from './action-text.ts';

const parts = (action: object) => actionParts(t, { action: action as Step['action'] });
const edit = (more: object) => ({ kind: 'FileEditorAction', path: '/w/a.ts', ...more });

describe('what an action would do, as a user reads it', () => {
  it('is the whole command, and what is not usual about it', () => {
    const command = `echo ${'x'.repeat(20_000)}\nrm -rf /`;
    const usual = AgentAction.parse({ kind: 'TerminalAction', command });
    expect(parts(usual)).toEqual([{ kind: 'text', label: 'Command', text: command }]);
    expect(actionAsText(parts(usual))).toBe(command);
    expect(parts({ ...usual, is_input: true }).map(({ label }) => label)).toEqual(['Command', 'is_input']);
  });

  it('is a diff for an edit, and for each file of a patch', () => {
    expect(parts(edit({ command: 'str_replace', old_str: 'a\nb', new_str: 'a\nc' }))).toEqual([
      {
        kind: 'diff',
        label: 'Edit /w/a.ts',
        lines: [
          { sign: ' ', text: 'a' },
          { sign: '-', text: 'b' },
          { sign: '+', text: 'c' },
        ],
      },
    ]);
    expect(parts(edit({ command: 'insert', insert_line: 7, new_str: 'x' }))).toMatchObject([
      { label: 'Insert into /w/a.ts after line 7' },
    ]);
    const patch = '*** Begin Patch\n*** Add File: b.ts\n+one\n*** Delete File: c.ts\n*** End Patch';
    expect(parts({ kind: 'ApplyPatchAction', patch }).map(({ label }) => label)).toEqual([
      'Added b.ts',
      'Deleted c.ts',
    ]);
  });

  it('leaves out no line of a new file, however long it is', () => {
    const [part] = parts(
      edit({ command: 'create', file_text: Array.from({ length: 500 }, (_, line) => `line ${line}`).join('\n') }),
    );
    expect(part?.kind === 'diff' && part.lines.length).toBe(500);
  });

  it('holds every field of an action that it does not know', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ minLength: 1 })), (fields) => {
        const shown = actionAsText(parts({ ...fields, kind: 'NewAction' }));
        for (const [name, value] of Object.entries(fields)) if (name !== 'kind') expect(shown).toContain(value);
      }),
    );
  });
});
