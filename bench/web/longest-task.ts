import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';

/** Milliseconds. */
export interface Longest {
  readonly wall: number;
  /** Of the processor: what is left when nothing else uses the machine. */
  readonly cpu: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly dur?: number;
  /** Microseconds of CPU. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Runs `work` and gives the longest task of a renderer's main thread meanwhile, from the browser's own trace. */
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
