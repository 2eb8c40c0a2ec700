import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { FileState } from '@slipway/contracts/live';
import { type FileContent, type FileDraft, type FileDraftEvent, openDraft, reduceDraft } from '@slipway/domain';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { DirectoryWatches } from './directory-watches.js';
import { ShownFile } from './shown-file.js';

const STEP = fc.oneof(
  { weight: 4, arbitrary: fc.constant('type' as const) },
  { weight: 4, arbitrary: fc.constant('save' as const) },
  { weight: 6, arbitrary: fc.constant('deliver' as const) },
  { weight: 6, arbitrary: fc.nat(30) },
  { weight: 6, arbitrary: fc.constantFrom('write', 'replace', 'append', 'remove') },
  { weight: 2, arbitrary: fc.constantFrom('keep mine', 'take theirs', 'bring back') },
  { weight: 1, arbitrary: fc.constant('lose the connection' as const) },
);
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;
type Save = ShownFile['save'];

const contentOf = (state: FileState): FileContent =>
  state.kind === 'text' ? { version: state.version, text: state.text } : { version: null, text: '' };

/** A user with one file open, programs of the sandbox, and what of either must still be somewhere. */
class World {
  readonly file: string;
  #shown!: ShownFile;
  #draft!: FileDraft;
  #inbox: FileDraftEvent[] = [];
  #saves: Promise<unknown>[] = [];
  #count = 0;
  /** What programs wrote; what was there when a program, or a user who had seen it, replaced it. */
  readonly #programs = new Set<string>();
  readonly #replacedKnowingly = new Set<string>();
  /** What the user typed last and did not drop by choice. */
  #mine: string | null = null;

  constructor(
    private readonly workspace: string,
    private readonly saveOf: (shown: ShownFile, file: string) => Save,
  ) {
    this.file = path.join(workspace, 'file');
    this.#program('write');
  }

  async open(): Promise<void> {
    this.#shown?.close();
    this.#inbox = [];
    const [inbox, watches] = [this.#inbox, new DirectoryWatches()];
    const changed = (state: FileState): void => void inbox.push({ type: 'seen', content: contentOf(state) });
    this.#shown = new ShownFile({
      workspace: this.workspace,
      path: 'file',
      watches,
      turns: new OneAtATime(),
      changed,
      maySend: () => true,
    });
    const content = contentOf(await this.#shown.open());
    if (this.#draft === undefined) this.#draft = openDraft(content, 'utf8');
    else
      for (const event of [{ type: 'seen', content }, { type: 'not-written' }] as const)
        this.#draft = reduceDraft(this.#draft, event);
  }

  async take(step: Step): Promise<void> {
    if (typeof step === 'number') for (let left = step; left > 0; left -= 1) await turn();
    else if (step === 'type') {
      this.#mine = `typed ${this.#next()}`;
      this.#draft = reduceDraft(this.#draft, { type: 'typed', text: this.#mine });
    } else if (step === 'save') this.#save();
    else if (step === 'deliver') this.#deliver();
    else if (step === 'lose the connection') await this.open();
    else if (step === 'keep mine') this.#draft = reduceDraft(this.#draft, { type: 'keep-mine' });
    else if (step === 'bring back') {
      if (this.#draft.replaced !== null && this.#draft.draft === null) this.#mine = this.#draft.replaced;
      this.#draft = reduceDraft(this.#draft, { type: 'bring-back' });
    } else if (step === 'take theirs') {
      if (this.#draft.theirs !== null) this.#mine = null;
      this.#draft = reduceDraft(this.#draft, { type: 'take-theirs' });
    } else this.#program(step);
  }

  /** Until all is said; then nothing of either side may be missing. */
  async check(): Promise<void> {
    await Promise.all(this.#saves);
    const disk = this.#disk();
    this.#shown.look();
    await until('the person knows what is there', () => {
      while (this.#inbox.length > 0) this.#deliver();
      const { theirs, base } = this.#draft;
      return (theirs ?? base).text === (disk ?? '');
    });
    const lost = [...this.#programs].filter((content) => content !== disk && !this.#replacedKnowingly.has(content));
    expect({ lost }).toEqual({ lost: [] });
    const { draft, replaced, base } = this.#draft;
    if (this.#mine !== null) expect([disk, draft, replaced, base.text]).toContain(this.#mine);
  }

  close(): void {
    this.#shown.close();
  }

  #save(): void {
    const { saving } = this.#draft;
    this.#draft = reduceDraft(this.#draft, { type: 'save' });
    const wanted = this.#draft.saving;
    if (saving !== null || wanted === null) return;
    const [inbox, seen] = [this.#inbox, this.#draft.base.text];
    const done = this.saveOf(
      this.#shown,
      this.file,
    )({ ...wanted, encoding: 'utf8' }).then((saved) => {
      if ('written' in saved) {
        this.#replacedKnowingly.add(seen);
        inbox.push({ type: 'written', version: saved.written });
      } else inbox.push({ type: 'not-written' }, { type: 'seen', content: contentOf(saved.conflict) });
    });
    this.#saves.push(done);
  }

  #deliver(): void {
    const event = this.#inbox.shift();
    if (event !== undefined) this.#draft = reduceDraft(this.#draft, event);
  }

  #program(how: 'write' | 'replace' | 'append' | 'remove'): void {
    const before = this.#disk();
    if (before !== null) this.#replacedKnowingly.add(before);
    const content = `program ${this.#next()}`;
    if (how === 'remove') rmSync(this.file, { force: true });
    else if (how === 'append') appendFileSync(this.file, content);
    else if (how === 'write') writeFileSync(this.file, content);
    else {
      writeFileSync(`${this.file}.new`, content);
      renameSync(`${this.file}.new`, this.file);
    }
    if (how !== 'remove') this.#programs.add(how === 'append' ? `${before ?? ''}${content}` : content);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #disk(): string | null {
    try {
      return readFileSync(this.file, 'utf8');
    } catch {
      return null;
    }
  }
}

jest.setTimeout(120_000);

describe('a user and programs that write the same file', () => {
  let folder: string;
  let worlds = 0;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-sides-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const property = (saveOf: (shown: ShownFile, file: string) => Save) =>
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60 }), async (steps) => {
      const workspace = path.join(folder, `world-${worlds++}`);
      mkdirSync(workspace);
      const world = new World(workspace, saveOf);
      try {
        await world.open();
        for (const step of steps) await world.take(step);
        await world.check();
      } finally {
        world.close();
        rmSync(workspace, { recursive: true, force: true });
      }
    });

  it('lose nothing of either side, in whatever order they write, save, hear of each other and lose the connection', async () => {
    await fc.assert(
      property((shown) => (save) => shown.save(save)),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 40) },
    );
  });

  it('would lose something if a save did not check what it replaces, and this test would find it', async () => {
    const blind =
      (_shown: ShownFile, file: string): Save =>
      async ({ text }) => {
        await turn();
        writeFileSync(file, text);
        return { written: `blind ${text}` };
      };
    const { failed } = await fc.check(property(blind), { numRuns: 300, endOnFailure: true });
    expect(failed).toBe(true);
  });
});
