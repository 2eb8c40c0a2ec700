import {
  FileEditAction,
  type FileEditObservation,
  type FileEditorObservation,
  MAX_EDITED_LINES,
} from '@slipway/contracts/actions';
import { textOfContent } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';
import { callModel } from '../model-call.js';
import type { OwnToolContext, Tool } from '../ports.js';
import { define } from './tool.js';

type EditorAnswer = z.infer<typeof FileEditorObservation>;

const SYSTEM = [
  'You merge a draft of an edit into a part of a file. You are given the part as it is, and a draft of how it should be.',
  'The draft may leave out lines that stay as they are, with a comment such as "... existing code ..." or with nothing; it then shows lines around the change to say where it belongs.',
  'Answer with the whole part as it is after the edit, in one code block, and nothing else. Keep every line that the draft does not change, and the indentation of the file. Write no comment that stands for lines.',
].join('\n');

/**
 * OpenHands' edit by a draft, which a model merges into the file. What it writes can be taken back with the file
 * editor.
 */
export const EDIT_FILE: Tool = {
  definition: define(
    'edit_file',
    [
      'Edits a part of a file by a draft: give the lines as they should be, with "... existing code ..." where lines stay; a model merges them in. A file that is not there is created with the draft.',
      `At most ${MAX_EDITED_LINES} lines at once. It costs another call of a model: use it for many changes in one part of a file, where exact old lines would be long.`,
      'For any other change `file_editor` and `apply_patch` are quicker and exact.',
    ].join('\n'),
    {
      path: { type: 'string', description: 'Absolute path.' },
      content: { type: 'string', description: 'The draft.' },
      start: { type: 'integer', minimum: 1, description: 'First line of the part. Absent: 1.' },
      end: { type: 'integer', minimum: -1, description: 'Last line of the part. Absent, or -1: the end of the file.' },
    },
    ['path', 'content'],
  ),
  kind: 'FileEditAction',
  schema: FileEditAction.strip(),
  observe: (action, context) => edit(action as FileEditAction, context),
};

async function edit(action: FileEditAction, context: OwnToolContext): Promise<FileEditObservation> {
  const { path, start, end, content } = action;
  if (end !== -1 && end < start)
    throw refused(`The part from line ${start} to ${end} is none: the end must not be before the start.`);
  // One line more than may be worked on shows whether the part is too long.
  const last = end === -1 ? start + MAX_EDITED_LINES : end;
  if (last - start > MAX_EDITED_LINES) throw tooLong();
  const seen = await editor(context, { command: 'view', path, view_range: [start, last] });
  if (seen.is_error && seen['error_code'] === 'file.not-found')
    return observationOf(action, await editor(context, { command: 'create', path, file_text: content }), null, content);
  if (seen.is_error) return observationOf(action, seen, null, null);
  const lines = linesOf(textOfContent(seen.content));
  if (lines === undefined) throw tooLong();
  if (lines.length > MAX_EDITED_LINES) throw tooLong();
  const part = lines.join('\n');
  if (part.trim() === '') throw refused(`The part of ${path} is empty: use \`insert\` of file_editor.`);
  if (context.ports.holdsSecret?.(part) === true)
    throw refused(
      'This part of the file holds a secret, which is shown to no model. Use file_editor for the lines beside it.',
    );
  const windows = lines.every((line) => line.endsWith('\r'));
  const merged = await mergedBy(context, windows ? part.replaceAll('\r', '') : part, content);
  const next = windows ? merged.replaceAll('\n', '\r\n') + (merged.endsWith('\r') ? '' : '\r') : merged;
  if (next === part)
    return {
      ...base(action),
      content: [{ type: 'text', text: `The draft changes nothing of ${path}.` }],
      is_error: true,
    };
  return observationOf(
    action,
    await editor(context, { command: 'str_replace', path, old_str: part, new_str: next }),
    part,
    next,
  );
}

async function mergedBy({ ports, settings, signal }: OwnToolContext, part: string, draft: string): Promise<string> {
  const fence = '`'.repeat(Math.max(3, ...[...`${part}${draft}`.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)));
  const request = {
    messages: [
      { role: 'system' as const, content: SYSTEM },
      {
        role: 'user' as const,
        content: `The part as it is:\n${fence}\n${part}\n${fence}\n\nThe draft:\n${fence}\n${draft}\n${fence}\n\nAnswer in a code block between lines of ${fence}`,
      },
    ],
    tools: [],
  };
  const { content, finishReason } = await callModel(ports, {
    usage: 'edit',
    request,
    retries: settings.modelRetries,
    signal,
  });
  const opened = /^(`{3,})[^`\n]*\n/m.exec(content);
  const closed = opened === null ? -1 : content.lastIndexOf(`\n${opened[1]}`);
  if (opened === null || closed < opened.index || finishReason === 'length')
    throw new SlipwayError(
      'model.bad-response',
      'The model gave no whole answer to the edit; nothing was changed. Use file_editor, or a smaller part.',
    );
  return content.slice(opened.index + opened[0].length, Math.max(closed, opened.index + opened[0].length));
}

async function editor({ ports, signal }: OwnToolContext, more: Record<string, unknown>): Promise<EditorAnswer> {
  const action = { kind: 'FileEditorAction', ...more } as Parameters<typeof ports.tools.execute>[0];
  return (await ports.tools.execute(action, { signal, traceparent: ports.traceparent() })) as EditorAnswer;
}

/** The lines of an answer that numbers them; `undefined` when some were cut out. */
function linesOf(numbered: string): string[] | undefined {
  const lines = numbered.split('\n').slice(1);
  const read = lines.map((line) => /^ *\d+\t(.*)$/s.exec(line)?.[1]);
  return read.every((line) => line !== undefined) ? (read as string[]) : undefined;
}

function observationOf(
  action: FileEditAction,
  answer: EditorAnswer,
  before: string | null,
  after: string | null,
): FileEditObservation {
  const changed = answer.is_error ? {} : { old_content: before, new_content: after };
  const code = answer['error_code'];
  return {
    ...base(action),
    content: answer.content,
    is_error: answer.is_error,
    prev_exist: before !== null,
    ...changed,
    ...(code === undefined ? {} : { error_code: code }),
  };
}

interface Base {
  readonly kind: 'FileEditObservation';
  readonly path: string;
  readonly prev_exist: boolean;
  readonly old_content: string | null;
  readonly new_content: string | null;
}

function base({ path }: FileEditAction): Base {
  return { kind: 'FileEditObservation', path, prev_exist: true, old_content: null, new_content: null };
}

function refused(detail: string): SlipwayError {
  return new SlipwayError('request.invalid', detail);
}

function tooLong(): SlipwayError {
  return refused(`The part is longer than ${MAX_EDITED_LINES} lines, or than can be shown. Give start and end.`);
}
