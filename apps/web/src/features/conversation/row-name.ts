import { clock } from '../../browser/format.ts';
import type { Translate } from '../../messages/translate.ts';
import { egressWords } from '../egress/egress-words.ts';
import { authorName } from './author-name.ts';
import { isFileEditor, type Row, type RowOf, type Step, stepState } from './timeline-row.ts';
import type { WorkspacePaths } from './workspace-path.ts';

/** Longest text that a name holds; the row itself has all of it. UTF-16 code units. */
const MAX_TEXT = 120;

/** What a name is said with: the reader's language, their id, and the places of the sandbox. */
export interface NameWords {
  readonly t: Translate;
  /** Id of the reader; `undefined` while it is not known. */
  readonly reader: string | undefined;
  readonly paths: WorkspacePaths;
}

/** A row in one line for who hears it: "Agent, 14:02, ran npm test, failed". */
export function rowName(row: Row, words: NameWords): string {
  const { who, at, what, state } = partsOf(row, words);
  return [who, at === null ? '' : clock(at), what, state].filter((part) => part !== '').join(', ');
}

interface Parts {
  readonly who: string;
  readonly at: string | null;
  readonly what: string;
  readonly state: string;
}

function partsOf(row: Row, words: NameWords): Parts {
  const { t } = words;
  const of = (who: string, what: string, state = ''): Parts => ({ who, at: null, what, state });
  switch (row.kind) {
    case 'message':
      return { who: authorOf(row, words), at: row.at, what: saidIn(row, t), state: '' };
    case 'steps':
      return {
        who: t('reading.agent'),
        at: row.steps[0]?.startedAt ?? row.steps[0]?.endedAt ?? null,
        what: stepsText(row, words),
        state: stateText(row, t),
      };
    case 'thought':
      return of(t('reading.agent'), t('reading.thought'));
    case 'tasks':
      return of(t('reading.agent'), t('reading.plan', { count: row.tasks.length }));
    case 'hook':
      return of(
        t('reading.slipway'),
        t(row.blocked ? 'reading.blocked' : 'reading.hookFailed', { text: short(row.text) }),
      );
    case 'servers':
      return of(t('reading.slipway'), t('reading.servers'));
    case 'summary':
      return of(t('reading.slipway'), t('reading.summary', { count: row.forgotten }));
    case 'retry':
      return of(t('reading.slipway'), t('reading.retried', { text: short(row.detail) }));
    case 'egress':
      return { ...of(t('reading.slipway'), short(egressWords(t, row.request))), at: row.at };
    case 'error':
      return of(t('reading.slipway'), t('reading.error', { text: short(row.detail) }));
    case 'start':
      return { ...of(t('reading.slipway'), t('reading.start')), at: row.steps[0]?.startedAt ?? null };
    case 'gap':
      return of(t('reading.slipway'), t('reading.notLoaded', { count: row.events }));
    case 'note':
      return of(t('reading.slipway'), t(row.note === 'paused' ? 'reading.paused' : 'reading.stopped'));
  }
}

function authorOf(row: RowOf<'message'>, { t, reader }: NameWords): string {
  if (row.author === 'user') return authorName(t, row, reader);
  return t(row.author === 'slipway' ? 'reading.slipway' : 'reading.agent');
}

function saidIn(row: RowOf<'message'>, t: Translate): string {
  return row.author === 'finish' ? t('reading.finished', { text: short(row.text) }) : short(row.text);
}

function stepsText(row: RowOf<'steps'>, words: NameWords): string {
  const [first] = row.steps;
  if (first === undefined) return '';
  if (row.steps.length === 1) return stepText(first, words);
  return words.t(row.fold === 'edit' ? 'reading.editedFiles' : 'reading.readFiles', { count: row.steps.length });
}

/** One call as it is said: "ran npm test", "edited src/sum.ts". */
export function stepText(step: Step, { t, paths }: NameWords): string {
  const source = step.action ?? step.observation;
  const text = (name: string): string => (typeof source?.[name] === 'string' ? source[name] : '');
  if (source?.kind.startsWith('Terminal')) {
    const command = short(paths.command(text('command').slice(0, 10 * MAX_TEXT)));
    return command === '' ? t('reading.waited') : t('reading.ran', { command });
  }
  if (source != null && isFileEditor(source.kind)) {
    const path = short(paths.path(text('path')));
    return t(text('command') === 'view' ? 'reading.readFile' : 'reading.editedFile', { path });
  }
  return step.summary === null ? t('reading.used', { tool: step.tool }) : short(step.summary);
}

function stateText(row: RowOf<'steps'>, t: Translate): string {
  const states = new Set(row.steps.map(stepState));
  if (states.has('failed')) return t('reading.failed');
  if (states.has('rejected')) return t('reading.rejected');
  if (states.has('interrupted')) return t('reading.interrupted');
  return states.has('running') ? t('reading.running') : '';
}

/** The first line that says something, cut where it is long. */
export function short(text: string): string {
  const line =
    text
      .slice(0, 20 * MAX_TEXT)
      .trim()
      .split('\n', 1)[0] ?? '';
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}

/** A user's message begins a turn. */
export function beginsTurn(row: Row): boolean {
  return row.kind === 'message' && row.author === 'user';
}

/** What a reader looks for who looks for failures. */
export function isFailure(row: Row): boolean {
  if (row.kind === 'steps') return row.steps.some((step) => stepState(step) === 'failed');
  return (
    row.kind === 'error' ||
    (row.kind === 'hook' && row.blocked) ||
    (row.kind === 'start' && row.steps.some(({ state }) => state === 'failed'))
  );
}
