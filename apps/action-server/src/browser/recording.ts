import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import type { CDPSession } from 'playwright-core';
import { fileError, freeBytes } from '../files/disk-space.js';
import { insideWorkspace } from '../files/workspace-path.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import type { Notes } from './notes.js';
import { RECORDING_BINDING, RECORDING_WORLD, recordingScript } from './recording-script.js';
import type { Tab } from './tab.js';

/** Most that one recording keeps. Bytes of JSON; a page under work is about 1 MiB a minute. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Longest recording: a forgotten one must not go on for ever. Milliseconds. */
const MAX_MS = 30 * 60_000;
/** A file that is larger is followed by another. Bytes. */
const FILE_BYTES = 1024 * 1024;
/** Of one event: a page's first state is one. Bytes. */
const EVENT_BYTES = 8 * 1024 * 1024;
/** Left free on the disk. Bytes. */
const RESERVE_BYTES = 64 * 1024 * 1024;
/** A secret that is shorter stands in too much else. Characters. */
const MIN_SECRET = 6;

export interface RecordingOptions {
  readonly workspace: string;
  readonly environment: ShellEnvironment;
  readonly notes: Notes;
  readonly maxRecordingBytes?: number;
}

/** The events of one tab, in files of their own: each is a JSON array that a replayer takes. */
interface Strip {
  files: number;
  events: number;
  /** Of the file that is being filled; not written yet. */
  waiting: string[];
  waitingBytes: number;
}

/**
 * What the tabs of the browser show, as rrweb's events, from `start` to `stop`: into a folder of the workspace, a tab
 * its own files. Bounded in bytes and time; what comes beyond ends it, with a note. Fields are masked where they stand,
 * known secrets before they are written.
 */
export class Recording {
  readonly #strips = new Map<string, Strip>();
  readonly #followed = new WeakSet<Tab>();
  readonly #sessions = new Set<CDPSession>();
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #writing = Promise.resolve();
  #failure: string | null = null;
  #over = false;

  private constructor(
    private readonly options: RecordingOptions,
    private readonly script: string,
    /** Where it is kept. */
    readonly folder: string,
  ) {
    this.#timer = setTimeout(() => this.#end(`it has lasted ${MAX_MS / 60_000} minutes`), MAX_MS).unref();
  }

  /** Makes the folder; `follow` begins with a tab. @throws SlipwayError `sandbox.tool-unavailable`, `file.*`. */
  static async start(options: RecordingOptions, now: Date): Promise<Recording> {
    const script = await recordingScript();
    const name = `recording-${now
      .toISOString()
      .replaceAll(/[-:]|\.\d+Z$/g, '')
      .replace('T', '-')}`;
    const base = await insideWorkspace(options.workspace, 'downloads');
    try {
      await mkdir(base, { recursive: true });
      for (let number = 1; ; number += 1) {
        const folder = path.join(base, number === 1 ? name : `${name}-${number}`);
        // Never into one that is there, which may be a link.
        const made = await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST' || number > 100) throw error;
          return null;
        });
        if (made !== null) return new Recording(options, script, folder);
      }
    } catch (error) {
      throw fileError(error, base);
    }
  }

  /** It takes no more events: it was stopped, is full, or failed. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Takes what this tab shows from now on. A tab that is followed already is passed over. */
  async follow(tab: Tab): Promise<void> {
    if (this.#over || this.#followed.has(tab)) return;
    this.#followed.add(tab);
    try {
      const session = await tab.page.context().newCDPSession(tab.page);
      this.#sessions.add(session);
      session.on('Runtime.bindingCalled', ({ name, payload }) => {
        if (name === RECORDING_BINDING) this.#take(tab.id, payload);
      });
      await session.send('Runtime.enable');
      await session.send('Runtime.addBinding', { name: RECORDING_BINDING, executionContextName: RECORDING_WORLD });
      await session.send('Page.enable');
      await session.send('Page.addScriptToEvaluateOnNewDocument', {
        source: this.script,
        worldName: RECORDING_WORLD,
        runImmediately: true,
      });
      if (this.#over) await session.detach();
    } catch {
      // It is closed: there is nothing to be seen.
    }
  }

  /** Ends it. @returns what there is. */
  async stop(): Promise<{ events: number; files: number; failure: string | null }> {
    clearTimeout(this.#timer);
    // What a page has given away comes before its answer.
    const heard = [...this.#sessions].map((session) =>
      session.send('Runtime.evaluate', { expression: '1' }).catch(() => {}),
    );
    if (!this.#over)
      await Promise.race([Promise.all(heard), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    this.#letGo();
    for (const [id, strip] of this.#strips) this.#write(id, strip);
    await this.#writing;
    const strips = [...this.#strips.values()];
    return {
      events: strips.reduce((sum, { events }) => sum + events, 0),
      files: strips.reduce((sum, { files }) => sum + files, 0),
      failure: this.#failure,
    };
  }

  #take(id: string, payload: string): void {
    if (this.#over) return;
    const bytes = Buffer.byteLength(payload);
    if (bytes > EVENT_BYTES || this.#bytes + bytes > (this.options.maxRecordingBytes ?? MAX_BYTES)) {
      this.#end(`it has ${Math.ceil(this.#bytes / 1024)} KiB, and no more is kept`);
      return;
    }
    this.#bytes += bytes;
    const strip = this.#strips.get(id) ?? { files: 0, events: 0, waiting: [], waitingBytes: 0 };
    this.#strips.set(id, strip);
    strip.waiting.push(this.#masked(payload));
    strip.waitingBytes += bytes;
    if (strip.waitingBytes >= FILE_BYTES) this.#write(id, strip);
  }

  #write(id: string, strip: Strip): void {
    if (strip.waiting.length === 0) return;
    const { waiting } = strip;
    strip.files += 1;
    strip.events += waiting.length;
    strip.waiting = [];
    strip.waitingBytes = 0;
    const file = path.join(this.folder, `tab-${id}-${strip.files}.json`);
    this.#writing = this.#writing.then(async () => {
      try {
        if ((await freeBytes(this.folder)) < RESERVE_BYTES)
          throw new SlipwayError('sandbox.disk-full', 'The disk of the sandbox is full.');
        await appendFile(file, `[${waiting.join(',\n')}]\n`, { flag: 'ax' });
      } catch (error) {
        this.#failure ??=
          error instanceof SlipwayError
            ? error.detail
            : `${path.basename(file)} could not be written (${(error as NodeJS.ErrnoException).code ?? 'failed'})`;
        this.#end(this.#failure);
      }
    });
  }

  /** Ends by itself: what there is stays. */
  #end(why: string): void {
    if (this.#over) return;
    this.#letGo();
    for (const [id, strip] of this.#strips) this.#write(id, strip);
    this.options.notes.add(`The recording has ended by itself: ${why}. What it has is in ${this.folder}.`);
  }

  #letGo(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    // With its session go the script and what takes the events; the recorder in a page ends with the next event.
    for (const session of this.#sessions) session.detach().catch(() => {});
    this.#sessions.clear();
  }

  #masked(json: string): string {
    let text = json;
    for (const name of this.options.environment.typedNames) {
      const value = this.options.environment.typed(name)?.value ?? '';
      if (value.length < MIN_SECRET) continue;
      for (const form of new Set([JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]))
        text = text.replaceAll(form, `<secret:${name}>`);
    }
    return text;
  }
}
