import type { FileState } from '@slipway/contracts/live';

type Text = Extract<FileState, { kind: 'text' }>;
/** Content of a file with its version; version null: the file does not exist. */
export interface FileContent {
  readonly version: string | null;
  readonly text: string;
}

/**
 * One file that a user has open, and what they wrote into it. Nothing of either side is ever dropped here but by a
 * choice: what the sandbox has is in `base` or `theirs`, what the user wrote is in `draft`, and what the sandbox has
 * replaced since it was saved is in `replaced`.
 */
export interface FileDraft {
  /** What the draft began from, or what is shown without one. */
  readonly base: FileContent;
  readonly encoding: Text['encoding'];
  /** The user's text while it differs from `base`. */
  readonly draft: string | null;
  /** What the sandbox has, when it is not what the draft began from. */
  readonly theirs: FileContent | null;
  /** What is on its way to the sandbox. */
  readonly saving: { readonly text: string; readonly base: string | null } | null;
  /** The user's last save here. */
  readonly saved: string | null;
  /** The user's save that the sandbox has replaced. */
  readonly replaced: string | null;
}

export type FileDraftEvent =
  | { readonly type: 'typed'; readonly text: string }
  /** The sandbox's content, however it came to be known. */
  | { readonly type: 'seen'; readonly content: FileContent; readonly encoding?: Text['encoding'] }
  | { readonly type: 'save' }
  | { readonly type: 'written'; readonly version: string }
  /** The save did not happen, or its outcome is unknown: the draft is as before. */
  | { readonly type: 'not-written' }
  /** What the sandbox has is dropped at the next save. */
  | { readonly type: 'keep-mine' }
  | { readonly type: 'take-theirs' }
  | { readonly type: 'bring-back' }
  | { readonly type: 'let-it-be' };

/** @param kept what the user wrote before, and its base, from an earlier visit. */
export function openDraft(
  content: FileContent,
  encoding: Text['encoding'],
  kept?: { readonly base: string | null; readonly text: string },
): FileDraft {
  const fresh: FileDraft = {
    base: content,
    encoding,
    draft: null,
    theirs: null,
    saving: null,
    saved: null,
    replaced: null,
  };
  if (kept === undefined || kept.text === content.text) return fresh;
  if (kept.base === content.version) return { ...fresh, draft: kept.text };
  // The text that it began from is gone, and not needed: both that matter are here.
  return { ...fresh, base: { version: kept.base, text: '' }, draft: kept.text, theirs: content };
}

export function reduceDraft(file: FileDraft, event: FileDraftEvent): FileDraft {
  switch (event.type) {
    case 'typed':
      return typed(file, event.text);
    case 'seen':
      return seen(event.encoding === undefined ? file : { ...file, encoding: event.encoding }, event.content);
    case 'save':
      if (file.draft === null || file.theirs !== null || file.saving !== null) return file;
      return { ...file, saving: { text: file.draft, base: file.base.version } };
    case 'written':
      return written(file, event.version);
    case 'not-written':
      return { ...file, saving: null, draft: file.draft === file.base.text ? null : file.draft };
    case 'keep-mine':
      return file.theirs === null
        ? file
        : { ...file, base: file.theirs, theirs: null, draft: file.draft === file.theirs.text ? null : file.draft };
    case 'take-theirs':
      return file.theirs === null ? file : { ...file, base: file.theirs, theirs: null, draft: null };
    case 'bring-back':
      return file.replaced === null || file.draft !== null ? file : { ...file, draft: file.replaced, replaced: null };
    case 'let-it-be':
      return { ...file, replaced: null };
  }
}

/** Whether the user's text exists nowhere else. */
export function isUnsaved(file: FileDraft): boolean {
  return file.draft !== null;
}

/** What the editor shows. */
export function shownText(file: FileDraft): string {
  return file.draft ?? file.base.text;
}

function typed(file: FileDraft, text: string): FileDraft {
  // What is on its way may become the base: until then every text is one of its own.
  if (file.saving !== null) return { ...file, draft: text };
  if (file.theirs !== null)
    return text === file.theirs.text
      ? { ...file, base: file.theirs, theirs: null, draft: null }
      : { ...file, draft: text };
  return { ...file, draft: text === file.base.text ? null : text };
}

function seen(file: FileDraft, content: FileContent): FileDraft {
  // The save has arrived; its answer is late, or was lost with the connection.
  if (file.saving !== null && content.version !== null && content.text === file.saving.text)
    return written(file, content.version);
  if (content.version === file.base.version)
    return {
      ...file,
      base: content,
      theirs: null,
      draft: file.draft === content.text && file.saving === null ? null : file.draft,
    };
  // An earlier save has arrived after all, or both wrote the same.
  if (file.draft !== null && content.text === file.draft && content.version !== null)
    return { ...file, base: content, theirs: null, draft: null, saved: file.draft, replaced: null };
  if (file.draft !== null) return { ...file, theirs: content };
  const replaced = file.saved !== null && file.saved === file.base.text ? file.saved : file.replaced;
  return { ...file, base: content, theirs: null, replaced: replaced === content.text ? null : replaced };
}

/** The sandbox takes a save only over what the draft began from: whatever else was seen before is there no more. */
function written(file: FileDraft, version: string): FileDraft {
  const { saving } = file;
  if (saving === null) return file;
  return {
    ...file,
    base: { version, text: saving.text },
    draft: file.draft === saving.text ? null : file.draft,
    theirs: null,
    saving: null,
    saved: saving.text,
    replaced: null,
  };
}
