import { type FileState, textChecksum } from '@slipway/contracts/live';
import {
  type FileContent,
  type FileDraft,
  type FileDraftEvent,
  isUnsaved,
  openDraft,
  reduceDraft,
} from '@slipway/domain';
import type { Translate } from '../../messages/translate.ts';
import { Slice } from '../conversation/conversation-store.ts';
import type { KeptDrafts } from './kept-drafts.ts';
import { type LiveRequests, RequestFailed } from './live-requests.ts';

/** A draft is kept this long after the last key, and at once when the page goes. Milliseconds. */
const KEEP_AFTER_MS = 250;

/** The file that is open. */
export interface OpenFile {
  readonly path: string;
  /** What the sandbox has; `null`: not known yet. */
  readonly state: FileState | null;
  /** Of a text, and of anything in whose place the user has one. */
  readonly draft: FileDraft | null;
  /** A secret was hidden in the text on its way: it is shown, and must not be written. */
  readonly masked: boolean;
  /** Why it could not be saved or read. */
  readonly problem: string | null;
  /** The browser keeps what is not saved. */
  readonly kept: boolean;
}

/**
 * The open file and what the user wrote into it. What is not saved outlives the connection, the page, and other files
 * that are opened meanwhile.
 */
export class FileStore {
  readonly file = new Slice<OpenFile | null>(null);
  /** Paths with something that is not saved. */
  readonly unsaved: Slice<ReadonlySet<string>>;
  /** Of files that are not open now. */
  private readonly others = new Map<string, FileDraft>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  private readonly requests: LiveRequests;
  private readonly keptDrafts: KeptDrafts;
  private readonly t: Translate;

  constructor(requests: LiveRequests, keptDrafts: KeptDrafts, t: Translate) {
    this.requests = requests;
    this.keptDrafts = keptDrafts;
    this.t = t;
    this.unsaved = new Slice<ReadonlySet<string>>(new Set(keptDrafts.paths()));
  }

  /** The connection stands: what is here may be old, and a save that was not answered may have arrived or not. */
  opened(): void {
    const file = this.file.get();
    if (file !== null) void this.ask(file.path);
  }

  open(path: string | null): void {
    const before = this.file.get();
    if (before?.path === path) return;
    this.flush();
    if (before !== null) {
      this.requests.letGo(before.path, 'file');
      if (before.draft !== null && (isUnsaved(before.draft) || before.draft.replaced !== null))
        this.others.set(before.path, before.draft);
    }
    this.file.set(
      path === null
        ? null
        : { path, state: null, draft: this.others.get(path) ?? null, masked: false, problem: null, kept: true },
    );
    if (path === null) return;
    this.others.delete(path);
    void this.ask(path);
  }

  receive(path: string, state: FileState): void {
    this.arrived(path, state);
  }

  typed(text: string): void {
    this.reduce({ type: 'typed', text });
  }

  /** What differs between the two sides is decided; a kept own text is saved at once. */
  choose(type: 'keep-mine' | 'take-theirs' | 'bring-back' | 'let-it-be'): void {
    this.reduce({ type });
    if (type === 'keep-mine') void this.save();
  }

  async save(): Promise<void> {
    const before = this.file.get();
    if (before?.draft == null || before.masked) return;
    const draft = reduceDraft(before.draft, { type: 'save' });
    const { saving } = draft;
    if (saving === null || draft === before.draft) return;
    const { path } = before;
    this.file.set({ ...before, draft, problem: null });
    this.flush();
    try {
      const answer = await this.requests.ask(
        { type: 'write', path, text: saving.text, encoding: draft.encoding, base: saving.base },
        'written',
        'conflict',
      );
      if (answer.type === 'written') return this.reduceAt(path, { type: 'written', version: answer.version });
      this.reduceAt(path, { type: 'not-written' });
      this.arrived(path, answer.file);
    } catch (error) {
      // Cut off while it was under way: what became of it is seen when the connection is back.
      if (error instanceof RequestFailed && error.lost) this.complain(path, this.t('files.notSavedYet'));
      else {
        this.reduceAt(path, { type: 'not-written' });
        this.complain(path, error instanceof Error ? error.message : this.t('files.couldNotBeSaved'));
      }
    }
  }

  /** Everything of a path is under another now. Answers the path of the open file, if that is another now too. */
  moved(from: string, to: string): string | null {
    this.flush();
    const under = (path: string): string | null =>
      path === from ? to : path.startsWith(`${from}/`) ? to + path.slice(from.length) : null;
    for (const path of this.keptDrafts.paths()) {
      const now = under(path);
      const draft = now === null ? undefined : this.keptDrafts.take(path);
      if (now === null || draft === undefined) continue;
      this.keptDrafts.keep(now, draft);
      this.keptDrafts.drop(path);
    }
    for (const [path, draft] of [...this.others]) {
      const now = under(path);
      if (now === null) continue;
      this.others.delete(path);
      this.others.set(now, draft);
    }
    const file = this.file.get();
    const now = file === null ? null : under(file.path);
    if (file?.draft != null && now !== null) this.others.set(now, file.draft);
    if (file !== null && now !== null) {
      this.requests.letGo(file.path, 'file');
      this.file.set(null);
    }
    this.unsaved.set(new Set([...this.unsaved.get()].map((path) => under(path) ?? path)));
    return now;
  }

  /** What is not saved is with the browser now. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const file = this.file.get();
    if (file?.draft == null) return;
    const { draft } = file.draft;
    if (draft === null) {
      if (this.unsaved.get().has(file.path)) this.keptDrafts.drop(file.path);
    } else {
      const kept = this.keptDrafts.keep(file.path, { base: file.draft.base.version, text: draft, at: Date.now() });
      if (kept !== file.kept) this.file.set({ ...file, kept });
    }
    this.mark(file.path, draft !== null);
  }

  private async ask(path: string): Promise<void> {
    try {
      const answer = await this.requests.ask({ type: 'open', path }, 'file');
      this.arrived(path, answer.file);
      if (this.file.get()?.draft?.saving != null) this.reduceAt(path, { type: 'not-written' });
    } catch (error) {
      if (error instanceof RequestFailed && !error.lost) this.complain(path, error.message);
    }
  }

  private arrived(path: string, state: FileState): void {
    const file = this.file.get();
    if (file?.path !== path) return;
    const content = contentOf(state);
    const encoding = state.kind === 'text' ? state.encoding : undefined;
    let { draft } = file;
    if (draft !== null)
      draft = reduceDraft(draft, { type: 'seen', content, ...(encoding === undefined ? {} : { encoding }) });
    else {
      const kept = this.keptDrafts.take(path);
      if (state.kind === 'text' || kept !== undefined) draft = openDraft(content, encoding ?? 'utf8', kept);
    }
    const masked = state.kind === 'text' && textChecksum(state.text) !== state.checksum;
    this.file.set({ ...file, state, draft, masked, problem: null });
    this.afterwards();
  }

  private reduce(event: FileDraftEvent): void {
    const path = this.file.get()?.path;
    if (path !== undefined) this.reduceAt(path, event);
  }

  /** The answer to a save may come when another file is open. */
  private reduceAt(path: string, event: FileDraftEvent): void {
    const file = this.file.get();
    const other = this.others.get(path);
    if (file?.path === path && file.draft !== null) {
      const draft = reduceDraft(file.draft, event);
      if (draft === file.draft) return;
      // Whoever writes has seen the words.
      this.file.set({ ...file, draft, problem: event.type === 'typed' ? null : file.problem });
      this.afterwards();
    } else if (other !== undefined) {
      const draft = reduceDraft(other, event);
      if (isUnsaved(draft)) this.others.set(path, draft);
      else {
        this.others.delete(path);
        this.keptDrafts.drop(path);
        this.mark(path, false);
      }
    }
  }

  private complain(path: string, problem: string): void {
    const file = this.file.get();
    if (file?.path === path) this.file.set({ ...file, problem });
  }

  private afterwards(): void {
    const file = this.file.get();
    if (file?.draft == null) return;
    const dirty = isUnsaved(file.draft);
    if (dirty !== this.unsaved.get().has(file.path)) this.mark(file.path, dirty, 'drop');
    clearTimeout(this.timer);
    this.timer = dirty ? setTimeout(() => this.flush(), KEEP_AFTER_MS) : undefined;
  }

  private mark(path: string, dirty: boolean, drop?: 'drop'): void {
    const marked = this.unsaved.get();
    if (!dirty && drop !== undefined) this.keptDrafts.drop(path);
    if (marked.has(path) === dirty) return;
    const next = new Set(marked);
    if (dirty) next.add(path);
    else next.delete(path);
    this.unsaved.set(next);
  }
}

/** Anything but a text has no version that could be replaced. */
function contentOf(state: FileState): FileContent {
  return state.kind === 'text' ? { version: state.version, text: state.text } : { version: null, text: '' };
}
