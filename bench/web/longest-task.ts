import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Milliseconds. */
export interface Longest {
  readonly wall: number;
  /** What is left of `wall` when nothing else uses the machine. */
  readonly cpu: number;
}

/** A browser without what runs beside the page. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly dur?: number;
  /** Microseconds of CPU: what is left of `dur` when nothing else uses the machine. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Runs `work` and gives the longest task of a renderer's main thread meanwhile, from the browser's own trace.
 * Milliseconds.
 */
export async function longestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<Longest> {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await work();
  await wait(300);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter((event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      .map((event) => `${event.pid}:${event.tid}`),
  );
  const tasks = traceEvents.filter(
    (event) => /RunTask$/.test(event.name) && event.ph === 'X' && main.has(`${event.pid}:${event.tid}`),
  );
  if (tasks.length === 0) throw new Error('the trace has no task');
  return {
    wall: Math.max(...tasks.map((task) => (task.dur ?? 0) / 1_000)),
    cpu: Math.max(...tasks.map((task) => (task.tdur ?? 0) / 1_000)),
  };
}
