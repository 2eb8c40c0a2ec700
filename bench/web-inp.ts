// Forty-odd interactions with Desk, list, conversation of 10,000 events and palette, on a desk (D) and on a slow phone
// (S), in Chromium: from the key or the press to the next paint.
import type { Page } from 'playwright-core';
import type { Producer } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { NEEDS_CHROMIUM, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { INTERACTIONS, type Stage } from './web/interactions.ts';
import { type PagesInBrowser, type Profile, startPagesInBrowser } from './web/pages.ts';
import { sampleLog } from './web/sample-log.ts';

const EVENTS = quick(10_000, 400);
const ROWS = quick(60, 10);
const ROUNDS = quick(3, 1);
const BATCH = 500;
/** The browser does not say of an interaction how long it took when it is shorter. Milliseconds. */
const SHORTEST_MS = 16;
const GOAL_MS = { D: 100, S: 200 } as const;

export default async function run(report: Report): Promise<void> {
  const pages = await startPagesInBrowser();
  if (pages === null) return report.note(NEEDS_CHROMIUM);
  try {
    for (let row = 0; row < ROWS; row += 1) await ask(await pages.servers.conversation());
    const long = await pages.servers.conversation();
    const events = sampleLog(long.id, EVENTS, Date.now() - 3_600_000).map(({ event }) => event);
    for (let from = 0; from < events.length; from += BATCH) await long.send(events.slice(from, from + BATCH));
    for (const profile of ['D', 'S'] as const) await measure(report, pages, long.id, profile);
  } finally {
    await pages.stop();
  }
}

async function measure(report: Report, pages: PagesInBrowser, long: string, profile: Profile): Promise<void> {
  const { page, close } = await pages.open(profile);
  await page.addInitScript(observe);
  const durations = new Map<string, number[]>();
  const addresses: Record<Stage, string> = {
    desk: `${pages.url}/bench`,
    work: `${pages.url}/bench/conversations`,
    conversation: `${pages.url}/bench/conversations/${long}`,
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    let stage: Stage | null = null;
    for (const [name, interaction] of Object.entries(INTERACTIONS)) {
      if (interaction.on !== stage) {
        stage = interaction.on;
        await page.goto(addresses[stage], { waitUntil: 'networkidle' });
      }
      await settled(page);
      await page.evaluate(forget);
      await interaction.run(page);
      await settled(page);
      const took = await page.evaluate(longest);
      durations.set(name, [...(durations.get(name) ?? []), Math.max(SHORTEST_MS, took)]);
    }
  }
  await close();
  const medians = [...durations].map(([name, each]) => ({ name, ms: percentile(each, 0.5) }));
  const slow = medians.filter(({ ms }) => ms > GOAL_MS[profile]).sort((a, b) => b.ms - a.ms);
  const values = medians.map(({ ms }) => ms);
  const n = values.length * ROUNDS;
  report.figure({ figure: `${profile}-p50`, value: percentile(values, 0.5), unit: 'ms', n });
  report.figure({ figure: `${profile}-worst`, value: Math.max(...values), unit: 'ms', n });
  report.figure({ figure: `${profile}-over-goal`, value: slow.length, unit: 'count', n: values.length });
  const words = slow.map(({ name, ms }) => `${name} ${ms} ms`).join(', ');
  report.note(`${profile}: ${words === '' ? 'all within' : words}; the goal is ${GOAL_MS[profile]} ms`);
}

/** What the last interaction caused is painted, and the browser has said how long it took. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => setTimeout(() => setTimeout(resolve, 150), 50)));
}

interface Observed {
  longest: number;
}

/** Runs in the page, before its own scripts. */
function observe(): void {
  const observed: Observed = { longest: 0 };
  (globalThis as unknown as { observed: Observed }).observed = observed;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as Array<{ duration: number; interactionId?: number }>)
      if ((entry.interactionId ?? 0) > 0) observed.longest = Math.max(observed.longest, entry.duration);
  }).observe({ type: 'event' as 'resource', buffered: true, durationThreshold: 16 } as never);
}

/** Runs in the page. */
const forget = (): void => {
  (globalThis as unknown as { observed: Observed }).observed.longest = 0;
};

/** Runs in the page. */
const longest = (): number => (globalThis as unknown as { observed: Observed }).observed.longest;

/** An agent that has asked something, and waits. */
async function ask(producer: Producer): Promise<void> {
  const of = { id: crypto.randomUUID(), timestamp: new Date().toISOString() };
  await producer.send([
    {
      ...of,
      source: 'agent',
      kind: 'MessageEvent',
      llm_message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'Which of the two readers should keep the last line?' }],
      },
    },
    {
      ...of,
      id: crypto.randomUUID(),
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'execution_status',
      value: 'idle',
    },
  ]);
}
