import { rmSync } from 'node:fs';
import path from 'node:path';
import { type BrowserAction, type BrowserObservation, KEEPS_DOWNLOADS } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import { OneAtATime } from '../editor/one-at-a-time.js';
import type { ShellEnvironment } from '../terminal/shell-environment.js';
import { shownAddress } from './address.js';
import { failed, observed } from './browser-observation.js';
import { BrowserProxy } from './browser-proxy.js';
import { Chromium, type Place } from './chromium.js';
import { Downloads } from './downloads.js';
import { findChromium } from './find-chromium.js';
import { Notes } from './notes.js';
import { line } from './page-text.js';
import { performAction } from './perform-action.js';
import { Recordings } from './recordings.js';
import type { RunningBrowser } from './running-browser.js';
import type { Tab } from './tab.js';
import { Tabs } from './tabs.js';
import { untilAborted } from './until-aborted.js';
import { WorkspaceProxy } from './workspace-pages.js';

/** Idle time without viewers after which it is stopped. Milliseconds. */
const IDLE_MS = 10 * 60_000;
/**
 * A page that leaves a question unanswered for so long does nothing any more. Milliseconds; large pages on a busy
 * machine need some.
 */
const PATIENCE_MS = 8_000;

export interface BrowserOptions {
  readonly environment: ShellEnvironment;
  readonly workspace: string;
  /** Of the browser alone, outside of the workspace. */
  readonly directory: string;
  /** Ports of this machine that no page may reach. */
  readonly refusedPorts: () => ReadonlySet<number>;
  readonly idleMs?: number;
  /** How long a page may leave a question unanswered. Milliseconds. */
  readonly patienceMs?: number;
  /** Most of all downloads under way together. Bytes. */
  readonly maxDownloadBytes?: number;
  /** Most that one recording keeps. Bytes. */
  readonly maxRecordingBytes?: number;
}

/**
 * The browser of the sandbox: one Chromium, started by the first action and stopped after an idle time. One that died
 * is started again by the next action, whose answer says what was lost. Actions are done one after another; each has
 * its own bounds in time and size, and its answer is cut and marked as content of the page.
 */
export class Browser {
  readonly notes = new Notes();
  #running: RunningBrowser | null = null;
  #starting: Promise<RunningBrowser> | null = null;
  /** Callers that wait for it. */
  #waiting = 0;
  #life = new AbortController();
  #proxies: Promise<readonly [BrowserProxy, WorkspaceProxy]> | undefined;
  readonly #turns = new OneAtATime();
  readonly #listeners = new Set<() => void>();
  #holds = 0;
  #idle: NodeJS.Timeout | undefined;
  /** Addresses after the last action: when Chromium dies its pages are gone before it is. */
  #open: readonly string[] = [];

  constructor(readonly options: BrowserOptions) {}

  /** Why there is no browser here, or `null`. */
  get missing(): string | null {
    const found = findChromium(this.options.environment.variables());
    return 'missing' in found ? found.missing : null;
  }

  /** A failure is an observation with `is_error`; an abort ends the wait at once and rejects with its reason. */
  execute(action: BrowserAction, signal: AbortSignal): Promise<BrowserObservation> {
    return this.#turns.run(async () => {
      signal.throwIfAborted();
      clearTimeout(this.#idle);
      try {
        const { tabs, downloads, recordings } = await this.#ready(signal);
        downloads.forgive((action as Record<string, unknown>)[KEEPS_DOWNLOADS] === false ? 'refused' : 'kept');
        for (const tab of tabs.list()) tab.forgive();
        const said = await performAction({ ...this.options, tabs, downloads, recordings }, action, signal);
        return await observed(this, said);
      } catch (error) {
        if (signal.aborted) throw error;
        return await failed(this, error);
      } finally {
        this.#rest();
      }
    });
  }

  /** What runs, or `null`. Starts nothing. */
  get running(): RunningBrowser | null {
    return this.#running;
  }

  /**
   * The tab in front, or `null` when the browser does not run or has none. Starts nothing. `onChange` says when this
   * may be another.
   */
  current(): Tab | null {
    return this.#running?.tabs.current ?? null;
  }

  /**
   * The tab in front of a running browser, which is started for it, to be sent to a page of this place. @throws
   * SlipwayError `sandbox.tool-unavailable`.
   */
  async open(place: Place, signal: AbortSignal): Promise<Tab> {
    const { tabs } = await this.#ready(signal);
    return tabs.inFront(place);
  }

  /**
   * Fires when the browser starts or ends, tabs come, go or move, and a page has another address or title. @returns
   * what ends it.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A viewer is there: it is not stopped as idle. @returns what ends that. */
  hold(): () => void {
    this.#holds += 1;
    clearTimeout(this.#idle);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#rest();
    };
  }

  /** At once, with everything that it started and what sites have stored. */
  close(): void {
    clearTimeout(this.#idle);
    this.#running?.downloads.close();
    this.#running?.recordings.end();
    this.#running?.chromium.kill();
    this.#running = null;
    void this.#starting?.then(({ chromium }) => chromium.kill()).catch(() => {});
    this.#life.abort(new SlipwayError('browser.lost', 'The browser is being ended.'));
    this.#life = new AbortController();
    void this.#proxies
      ?.then(([sites, workspace]) => {
        sites.close();
        workspace.close();
      })
      .catch(() => {});
    this.#proxies = undefined;
    try {
      rmSync(this.options.directory, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // What was just killed may be writing its last; the next browser of this sandbox uses the folder again.
    }
  }

  /** One start for all who come meanwhile: who gives up ends only their own waiting. */
  async #ready(signal: AbortSignal): Promise<RunningBrowser> {
    if (this.#running !== null && !this.#running.chromium.ended) return this.#running;
    this.#waiting += 1;
    try {
      this.#starting ??= this.#startOnce();
      return await untilAborted(this.#starting, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #startOnce(): Promise<RunningBrowser> {
    try {
      return await this.#start(this.#life.signal);
    } catch (error) {
      if (error instanceof SlipwayError || this.#life.signal.aborted) throw error;
      throw new SlipwayError(
        'sandbox.tool-unavailable',
        `The browser could not be started: ${line(String(error), 300)}`,
        { cause: error },
      );
    } finally {
      this.#starting = null;
      // No caller waits for it any more, so no action will report it as idle.
      if (this.#waiting === 0) this.#rest();
    }
  }

  async #start(signal: AbortSignal): Promise<RunningBrowser> {
    const variables = this.options.environment.variables();
    const found = findChromium(variables);
    if ('missing' in found) throw new SlipwayError('sandbox.tool-unavailable', found.missing);
    this.#proxies ??= this.#startProxies();
    const [sites, workspace] = (await this.#proxies).map(({ port }) => `http://127.0.0.1:${port}`) as [string, string];
    const chromium = await Chromium.start(
      { program: found.program, directory: this.options.directory, proxyUrls: { sites, workspace }, variables },
      signal,
    );
    const downloads = new Downloads({
      workspace: this.options.workspace,
      directory: path.join(this.options.directory, 'downloads'),
      notes: this.notes,
      ...(this.options.maxDownloadBytes === undefined ? {} : { maxBytes: this.options.maxDownloadBytes }),
    });
    const recordings = new Recordings({ ...this.options, notes: this.notes });
    const tabs = new Tabs(chromium.contexts, this.options.patienceMs ?? PATIENCE_MS, {
      notes: this.notes,
      download: (download) => downloads.take(download),
      changed: () => this.#changed(),
    });
    const running = { chromium, tabs, downloads, recordings };
    this.#running = running;
    chromium.contexts.sites.once('close', () => this.#lost(running));
    this.#changed();
    return running;
  }

  async #startProxies(): Promise<readonly [BrowserProxy, WorkspaceProxy]> {
    const refused = (because: string): void => this.notes.add(because);
    const own = new Set<number>();
    const sites = await BrowserProxy.start({
      variables: () => this.options.environment.variables('browser'),
      refusedPorts: () => new Set([...this.options.refusedPorts(), ...own]),
      refused,
    });
    const workspace = await WorkspaceProxy.start(this.options.workspace, refused);
    own.add(sites.port).add(workspace.port);
    return [sites, workspace];
  }

  /** It ended without having been asked to. */
  #lost(running: RunningBrowser): void {
    running.downloads.close();
    running.recordings.end();
    running.chromium.kill();
    if (this.#running !== running) return;
    this.#running = null;
    this.notes.add(`The browser ended by itself; it is a new one from here on. ${this.#whatIsGone()}`);
    this.#changed();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#running === null) return;
    const pages = this.#running.tabs.list().map(({ page }) => page.url());
    this.#open = pages.flatMap((url) =>
      url === 'about:blank' ? [] : [shownAddress(url, this.options.workspace).slice(0, 200)],
    );
    if (this.#holds > 0) return;
    this.#idle = setTimeout(() => void this.#turns.run(() => this.#stop()), this.options.idleMs ?? IDLE_MS).unref();
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    if (running === null || this.#holds > 0) return;
    this.#running = null;
    this.notes.add(`The browser was stopped while idle; this is a new one. ${this.#whatIsGone()}`);
    running.downloads.close();
    running.recordings.end();
    await running.chromium.close();
    this.#changed();
  }

  #whatIsGone(): string {
    const open = this.#open.length === 0 ? '' : ` Open were: ${this.#open.join(', ')}`;
    return `Open pages, what was typed into them and what sites kept for the session are gone; cookies and stored data of sites are kept.${open}`;
  }

  #changed(): void {
    if (this.#running !== null) void this.#running.recordings.follow(this.#running.tabs.list());
    for (const listener of this.#listeners) listener();
  }
}
