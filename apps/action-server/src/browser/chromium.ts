import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { beginningOf } from '@slipway/contracts/actions';
import { SlipwayError } from '@slipway/errors';
import type { BrowserContext, Browser as PlaywrightBrowser } from 'playwright-core';
import { fileError } from '../files/disk-space.js';
import { killSession } from '../process/kill.js';

/** Longest start, on a slow disk. Milliseconds. */
const START_MS = 60_000;
/** Longest orderly end; then it is killed. Milliseconds. */
const CLOSE_MS = 5_000;

/** What a page is shown in. CSS pixels. */
export const VIEWPORT = { width: 1280, height: 800 } as const;

/** As pages are shown in either place. */
const SHOWN = { viewport: VIEWPORT, acceptDownloads: true, serviceWorkers: 'allow' } as const;

/** Passed on from the shell's environment; nothing else is, so no secret of a task is in the browser's own. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ'];
/**
 * Chromium makes a socket in `TMPDIR`, 46 bytes further down, and no path of a socket is longer than 107: a longer
 * directory is not passed on. Bytes.
 */
const MAX_SOCKET_DIRECTORY = 60;

const ARGUMENTS = [
  // What would pass by the proxy.
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Its name in older ones.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  // The proxies resolve names: Chromium itself resolves none.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // What Chromium would ask for by itself.
  '--disable-background-networking',
  '--disable-extensions',
  '--gaia-url=http://127.0.0.1:9',
  '--component-updater=url-source=http://127.0.0.1:9',
  '--no-pings',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-sync',
  '--disable-gpu',
  '--no-first-run',
  '--disable-crash-reporter',
  '--renderer-process-limit=8',
  // What Chromium keeps of pages that it may ask for again. Bytes: the volume is a small one, and it sees the node's
  // disk.
  '--disk-cache-size=33554432',
  '--media-cache-size=16777216',
  // One page's script must not take the sandbox's memory. MiB.
  '--js-flags=--max-old-space-size=1024',
];

/**
 * Where a page belongs: to a site, or to the workspace. Each has storage, workers and a way out of its own, and a page
 * never changes from one to the other: so what may read the workspace can send nothing anywhere, by any means that
 * Chromium has.
 */
export type Place = 'sites' | 'workspace';

export interface ChromiumOptions {
  readonly program: string;
  /** Of the browser alone: profile, cache, downloads under way. */
  readonly directory: string;
  /** The way out of pages of sites, and that of pages of the workspace. */
  readonly proxyUrls: Readonly<Record<Place, string>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** One running Chromium with its profile. */
export class Chromium {
  #ended = false;

  private constructor(
    readonly contexts: Readonly<Record<Place, BrowserContext>>,
    private readonly pid: number | undefined,
  ) {
    contexts.sites.once('close', () => {
      this.#ended = true;
    });
  }

  /**
   * The sandbox of Chromium's own needs rights that a pod has not: the pod is the wall, for a page as for a command of
   * the agent.
   * @throws SlipwayError `sandbox.tool-unavailable` with what Chromium says; the signal's reason.
   */
  static async start(options: ChromiumOptions, signal: AbortSignal): Promise<Chromium> {
    signal.throwIfAborted();
    const { chromium } = await import('playwright-core');
    const profile = path.join(options.directory, 'profile');
    const downloadsPath = path.join(options.directory, 'downloads');
    // Left by one that was killed: it has no owner, since only this process starts any.
    try {
      for (const name of ['SingletonLock', 'SingletonCookie', 'SingletonSocket'])
        await rm(path.join(profile, name), { force: true });
      await rm(downloadsPath, { recursive: true, force: true });
      for (const folder of [profile, downloadsPath]) await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      const cause = fileError(error, profile);
      throw cause instanceof SlipwayError
        ? new SlipwayError('sandbox.tool-unavailable', `The browser could not be started: ${cause.detail}`, {
            cause: error,
          })
        : cause;
    }
    const launch = chromium.launchPersistentContext(profile, {
      executablePath: options.program,
      chromiumSandbox: false,
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      args: ARGUMENTS,
      env: {
        ...Object.fromEntries(
          PASSED_ON.flatMap((name) => (options.variables[name] === undefined ? [] : [[name, options.variables[name]]])),
        ),
        ...(Buffer.byteLength(options.variables['TMPDIR'] ?? '') > MAX_SOCKET_DIRECTORY
          ? {}
          : { TMPDIR: options.variables['TMPDIR'] }),
        HOME: options.directory,
      },
      proxy: { server: options.proxyUrls.sites },
      ...SHOWN,
      downloadsPath,
      timeout: START_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    return orGivenUp(
      launch.then((sites) => Chromium.#around(sites, options)),
      signal,
    );
  }

  static async #around(sites: BrowserContext, { proxyUrls }: ChromiumOptions): Promise<Chromium> {
    const browser = sites.browser();
    if (browser === null) throw new Error('Chromium ended while it was started');
    try {
      const [workspace, pid] = await Promise.all([
        browser.newContext({ ...SHOWN, proxy: { server: proxyUrls.workspace } }),
        pidOf(browser),
      ]);
      return new Chromium({ sites, workspace }, pid);
    } catch (error) {
      await sites.close().catch(() => {});
      throw error;
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Orderly, so that the profile is whole. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.kill(), CLOSE_MS);
    await this.contexts.sites.close().catch(() => {});
    clearTimeout(timer);
    this.kill();
  }

  /** With everything that it started. */
  kill(): void {
    this.#ended = true;
    if (this.pid !== undefined) killSession(this.pid);
  }
}

async function orGivenUp(launch: Promise<Chromium>, signal: AbortSignal): Promise<Chromium> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([launch, aborted]);
  } catch (error) {
    launch.then(
      (late) => late.close(),
      () => {},
    );
    signal.throwIfAborted();
    const said = error instanceof Error ? error.message : String(error);
    throw new SlipwayError('sandbox.tool-unavailable', `The browser could not be started: ${reasonIn(said)}`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The line that says why, of a message that has the whole command line and log in it. */
function reasonIn(message: string): string {
  const lines = message
    .split('\n')
    .map((line) => line.replaceAll(/\[\d+m|^\s*-?\s*(?:\[pid=\d+\])?(?:\[err\])?\s*/g, '').trim());
  const cause =
    lines.find((line) =>
      /error while loading|cannot open|No such file|Permission denied|No space left|FATAL/i.test(line),
    ) ??
    lines[0] ??
    '';
  return beginningOf(cause, 300);
}

async function pidOf(browser: PlaywrightBrowser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.find(({ type }) => type === 'browser')?.id;
}
