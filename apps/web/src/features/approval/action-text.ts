import { blobRefOf } from '@slipway/contracts/events';
import type { Translate } from '../../messages/translate.ts';
import { EDIT_VERBS } from '../conversation/edit-verbs.ts';
import { editOf } from '../conversation/file-edit.ts';
import { patchLines } from '../conversation/patch-lines.ts';
import type { DiffLine } from '../conversation/rows/diff-lines.tsx';
import { isFileEditor, type Step } from '../conversation/timeline-row.ts';

/**
 * One part of what an action would do: a text with its name, or a change of a file. Nothing of the action is left out.
 */
export type ActionPart =
  | { readonly kind: 'text'; readonly label: string; readonly text: string }
  | { readonly kind: 'diff'; readonly label: string; readonly lines: readonly DiffLine[] };

/**
 * What an action would do, whole and in the order in which a user reads it: a command as it is, an edit as a diff,
 * everything else field by field.
 */
export function actionParts(t: Translate, { action }: Pick<Step, 'action'>): readonly ActionPart[] {
  if (action === null) return [];
  const { kind, ...fields } = action;
  const diff = diffOf(t, action);
  if (diff !== null) return [...diff.parts, ...fieldsOf(fields, diff.covered)];
  if (kind === 'TerminalAction')
    return [
      text(t('common.command'), fields['command']),
      ...fieldsOf(fields, ['command', ...TERMINAL_DEFAULTS(fields)]),
    ];
  return fieldsOf(fields, []);
}

/** The action as one text, for the clipboard. A part that is kept elsewhere has its beginning only. */
export function actionAsText(parts: readonly ActionPart[]): string {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return blobRefOf(only.text)?.preview ?? only.text;
  return parts
    .map(
      (part) =>
        `${part.label}:\n${part.kind === 'text' ? (blobRefOf(part.text)?.preview ?? part.text) : part.lines.map(({ sign, text: line }) => `${sign}${line}`).join('\n')}`,
    )
    .join('\n\n');
}

/** Fields of a command that say nothing when they have these values. */
const TERMINAL_DEFAULTS = (fields: Readonly<Record<string, unknown>>): string[] =>
  ['is_input', 'reset', 'timeout', 'session'].filter(
    (name) => fields[name] === false || fields[name] === null || fields[name] === 'main',
  );

/** A change of files as diffs, where all of it is in the action itself; else `null`, and its fields are read. */
function diffOf(
  t: Translate,
  action: NonNullable<Step['action']>,
): { readonly parts: ActionPart[]; readonly covered: readonly string[] } | null {
  if (action.kind === 'ApplyPatchAction' && typeof action['patch'] === 'string') {
    const { files, cut } = patchLines(action['patch']);
    if (cut || files.length === 0) return null;
    return {
      parts: files.map(({ verb, path, movedTo, lines }) => ({
        kind: 'diff',
        label: movedTo === null ? `${t(EDIT_VERBS[verb])} ${path}` : t('approval.movedTo', { path, movedTo }),
        lines,
      })),
      covered: ['patch'],
    };
  }
  if (!isFileEditor(action.kind) || !EDITS.has(String(action['command']))) return null;
  const edit = editOf({ action, observation: null } as Step);
  if (edit.cut) return null;
  const path = String(action['path'] ?? '');
  const at =
    action['command'] === 'insert'
      ? t('approval.insertIntoAfterLine', { path, line: String(action['insert_line'] ?? 0) })
      : `${action['command'] === 'create' ? t('common.create') : t('common.edit')} ${path}`;
  return {
    parts: [{ kind: 'diff', label: at, lines: edit.lines }],
    covered: ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line'],
  };
}

const EDITS: ReadonlySet<string> = new Set(['create', 'str_replace', 'insert']);

function fieldsOf(fields: Readonly<Record<string, unknown>>, covered: readonly string[]): ActionPart[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    covered.includes(name) || value === null || value === undefined || value === '' ? [] : [text(name, value)],
  );
}

function text(label: string, value: unknown): ActionPart {
  return { kind: 'text', label, text: typeof value === 'string' ? value : JSON.stringify(value, null, 2) };
}
