import { randomBytes } from 'node:crypto';
import { lstat, mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ApplyPatchAction, ApplyPatchObservation, PatchedFile } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { EditHistory } from '../editor/edit-history.js';
import type { OneAtATime } from '../editor/one-at-a-time.js';
import { clipped } from '../editor/snippets.js';
import { MAX_TEXT_BYTES, readTextFile, stageTextFile, type TextFile, tooLarge } from '../editor/text-file.js';
import { fileError } from '../files/disk-space.js';
import { applyChunks } from './apply-chunks.js';
import { type FilePatch, parsePatch } from './parse-patch.js';

/** Contents longer than this are not repeated in the observation, nor more of all together. UTF-16 code units. */
const MAX_CONTENT = 100_000;
const MAX_CONTENTS = 400_000;

/** What is to become of one file. `before` is `null` for one that is not there, or that only goes and is no text. */
interface Change {
  readonly type: PatchedFile['type'];
  readonly file: string;
  readonly moveTo: string | null;
  readonly before: TextFile | null;
  readonly after: TextFile | null;
  readonly fuzz: number;
  readonly added: number;
  readonly removed: number;
}

export interface PatcherOptions {
  readonly history: EditHistory;
  /** Shared with the file editor: the two never change a file at once. */
  readonly turns: OneAtATime;
  /** Relative paths begin here. */
  readonly directory: () => string;
}

/**
 * Applies patches: every file is read and every change worked out before the first is written, and what fails then is
 * taken back, so a patch is done whole or not at all. Each change can be taken back with the file editor's `undo_edit`.
 * A failure is an observation with `is_error`, a sentence and the code.
 */
export class Patcher {
  constructor(private readonly options: PatcherOptions) {}

  execute(action: ApplyPatchAction): Promise<ApplyPatchObservation> {
    return this.options.turns.run(() => this.#execute(action));
  }

  async #execute({ patch }: ApplyPatchAction): Promise<ApplyPatchObservation> {
    try {
      const changes = await planned(parsePatch(patch), this.options.directory());
      await carryOut(changes);
      for (const { file, moveTo, before } of changes) {
        if (moveTo !== null) this.options.history.push(moveTo, null);
        this.options.history.push(file, before);
      }
      return observation(clipped(summaryOf(changes)), {
        fuzz: changes.reduce((sum, { fuzz }) => sum + fuzz, 0),
        commit: { changes: contentsOf(changes) },
      });
    } catch (thrown) {
      const error = fileError(thrown, 'A file of the patch');
      if (!(error instanceof SlipwayError)) throw error;
      return { ...observation(clipped(error.detail), {}), is_error: true, error_code: error.code };
    }
  }
}

/** Every change, or one failure that names each conflicting file. */
async function planned(patches: readonly FilePatch[], directory: string): Promise<Change[]> {
  const changes: Change[] = [];
  const failures: SlipwayError[] = [];
  const touched = new Set<string>();
  const claim = (given: string): string => {
    const file = path.resolve(directory, given);
    if (touched.has(file))
      throw new SlipwayError('request.invalid', `${file}: it is named twice. Put all its changes under one heading.`);
    touched.add(file);
    return file;
  };
  /** One file may have several names, and each be given. */
  const claimFile = async (file: string): Promise<void> => {
    const { dev, ino } = await stat(file);
    if (touched.has(`${dev}:${ino}`))
      throw new SlipwayError(
        'request.invalid',
        `${file}: another heading names the same file. Put all its changes under one.`,
      );
    touched.add(`${dev}:${ino}`);
  };
  for (const patch of patches) {
    try {
      const planned = await change(patch, claim);
      if (planned.type === 'update') await claimFile(planned.file);
      changes.push(planned);
    } catch (thrown) {
      const error = fileError(thrown, path.resolve(directory, patch.path));
      if (!(error instanceof SlipwayError)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first !== undefined)
    throw new SlipwayError(first.code, `Nothing was changed.\n${failures.map(({ detail }) => detail).join('\n')}`);
  return changes;
}

async function change(patch: FilePatch, claim: (given: string) => string): Promise<Change> {
  const file = claim(patch.path);
  if (patch.kind === 'add') {
    await mustBeFree(file);
    const text = patch.lines.length === 0 ? '' : `${patch.lines.join('\n')}\n`;
    return {
      type: 'add',
      file,
      moveTo: null,
      before: null,
      after: { text, encoding: 'utf8' },
      fuzz: 0,
      added: patch.lines.length,
      removed: 0,
    };
  }
  if (patch.kind === 'delete') {
    const found = await lstat(file).catch((error: unknown) => Promise.reject(fileError(error, file)));
    if (found.isDirectory())
      throw new SlipwayError('request.invalid', `${file} is a directory; a patch deletes files.`);
    const before = found.isFile() ? await readTextFile(file).catch(() => null) : null;
    return {
      type: 'delete',
      file,
      moveTo: null,
      before,
      after: null,
      fuzz: 0,
      added: 0,
      removed: before === null ? 0 : before.text.split('\n').length - 1,
    };
  }
  const moveTo = patch.moveTo === null ? null : claim(patch.moveTo);
  if (moveTo !== null) await mustBeFree(moveTo);
  const before = await readTextFile(file);
  const patched = applyChunks(before.text, patch.chunks);
  if (!patched.ok) throw new SlipwayError('request.invalid', `${file}: ${patched.why}`);
  if (Buffer.byteLength(patched.text) > MAX_TEXT_BYTES) throw tooLarge(file, Buffer.byteLength(patched.text));
  const signs = patch.chunks.flatMap(({ lines }) => lines.map(({ sign }) => sign));
  const counts = {
    added: signs.filter((sign) => sign === '+').length,
    removed: signs.filter((sign) => sign === '-').length,
  };
  return {
    type: 'update',
    file,
    moveTo,
    before,
    after: { text: patched.text, encoding: before.encoding },
    fuzz: patched.fuzz,
    ...counts,
  };
}

async function mustBeFree(file: string): Promise<void> {
  const there = await lstat(file).catch((error: unknown) =>
    (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Promise.reject(fileError(error, file)),
  );
  if (there !== undefined)
    throw new SlipwayError('request.invalid', `${file} exists already. Change it with "*** Update File:".`);
}

/**
 * First everything that may fail (a full disk, a folder that may not be written) beside the files; then names are
 * changed, and changed back when one cannot be.
 */
async function carryOut(changes: readonly Change[]): Promise<void> {
  const undo: Array<() => Promise<unknown>> = [];
  const finish: Array<() => Promise<unknown>> = [];
  const staged: Array<{ commit(): Promise<void>; discard(): Promise<void> }> = [];
  try {
    for (const { file, moveTo, before, after, type } of changes) {
      if (after === null) continue;
      const target = moveTo ?? file;
      const made = await mkdir(path.dirname(target), { recursive: true }).catch((error: unknown) =>
        Promise.reject(fileError(error, target)),
      );
      if (made !== undefined) undo.push(() => rm(made, { recursive: true, force: true }));
      const mode = moveTo === null ? undefined : (await stat(file)).mode;
      const next = await stageTextFile(target, after, mode);
      staged.push(next);
      if (type === 'update' && moveTo === null && before !== null)
        undo.unshift(async () => (await stageTextFile(target, before)).commit());
      else undo.unshift(() => rm(target, { force: true }));
    }
    for (const next of staged) await next.commit();
    for (const { file, moveTo, after } of changes) {
      if (after !== null && moveTo === null) continue;
      const aside = path.join(
        path.dirname(file),
        `.${path.basename(file).slice(0, 50)}.${randomBytes(4).toString('hex')}`,
      );
      await rename(file, aside).catch((error: unknown) => Promise.reject(fileError(error, file)));
      undo.unshift(() => rename(aside, file));
      finish.push(() => rm(aside, { force: true }));
    }
  } catch (error) {
    for (const next of staged) await next.discard();
    for (const back of undo) await back().catch(() => undefined);
    throw error instanceof SlipwayError
      ? new SlipwayError(error.code, `Nothing was changed. ${error.detail}`, { cause: error })
      : error;
  }
  for (const last of finish) await last().catch(() => undefined);
}

function summaryOf(changes: readonly Change[]): string {
  const letter = { add: 'A', delete: 'D', update: 'M' } as const;
  const lines = changes.map(({ type, file, moveTo, added, removed, fuzz }) => {
    const name = moveTo === null ? `${letter[type]} ${file}` : `R ${file} -> ${moveTo}`;
    return `${name} (+${added} -${removed})${fuzz > 0 ? ' [the context was not found exactly as given: check the result]' : ''}`;
  });
  return `The patch was applied to ${changes.length === 1 ? '1 file' : `${changes.length} files`}:\n${lines.join('\n')}`;
}

function contentsOf(changes: readonly Change[]): Record<string, PatchedFile> {
  let room = MAX_CONTENTS;
  const bounded = (file: TextFile | null): string | null => {
    if (file === null || file.text.length > MAX_CONTENT || file.text.length > room) return null;
    room -= file.text.length;
    return file.text;
  };
  return Object.fromEntries(
    changes.map(({ type, file, moveTo, before, after }) => [
      file,
      { type, old_content: bounded(before), new_content: bounded(after), move_path: moveTo },
    ]),
  );
}

function observation(message: string, more: Partial<ApplyPatchObservation>): ApplyPatchObservation {
  return {
    kind: 'ApplyPatchObservation',
    content: [{ type: 'text', text: message }],
    is_error: false,
    message,
    fuzz: 0,
    commit: null,
    ...more,
  };
}
