// Create a conversation → the agent's first event on a subscribed socket: the whole local stack on Postgres alone, a
// warm sandbox; without a repository and with a clone.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Conversation, StartStep } from '@slipway/contracts/conversations';
import type { LoggedEvent } from '@slipway/contracts/events';
import {
  ConversationWatcher,
  createSampleRepository,
  type SignedInClient,
  signIn,
  startGitServer,
  until,
} from '@slipway/testing';
import { freePortRange } from '../deploy/local/free-ports.ts';
import { METRICS_OFFSET, PORT_OFFSETS } from '../deploy/local/settings.ts';
import { type Stack, startStack } from '../deploy/local/stack.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Conversations measured, one after the other, each when the pool is full. */
const WITHOUT_REPOSITORY = quick(40, 1);
const WITH_REPOSITORY = quick(20, 1);
/** The first ones pay for what is compiled and connected once. */
const WARM_UP = quick(3, 0);
const POOL_TARGET = 2;

/**
 * One conversation's way to its first event of the agent, in milliseconds: `total`, and what it consists of, in order.
 */
type Way = Readonly<Record<string, number>>;

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-first-event-'));
  await createSampleRepository(path.join(folder, 'git'), 'sample.git', {
    'README.md': '# A sample\n',
    'src/main.c': 'int main(void) { return 0; }\n',
  });
  const git = await startGitServer(path.join(folder, 'git'));
  const stack = await startStack({
    port: await freePortRange(),
    dataDirectory: path.join(folder, 'data'),
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DEMO_MODEL_DELAY_MS: '0',
      POOL_TARGET: String(POOL_TARGET),
      ORG_SANDBOX_LIMIT: '50',
      LOG_LEVEL: 'warn',
    },
    log: () => {},
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
  });
  try {
    const user = await signIn(stack.url);
    for (const [name, count, repository] of [
      ['', WITHOUT_REPOSITORY, undefined],
      ['clone-', WITH_REPOSITORY, `${git.url}/sample.git`],
    ] as const) {
      const ways: Way[] = [];
      for (let index = 0; index < WARM_UP + count; index += 1) {
        await until('warm sandboxes', async () => (await readySlots(stack)) >= POOL_TARGET, 60_000);
        const way = await firstEvent(stack, user, repository);
        if (index >= WARM_UP) ways.push(way);
      }
      const totals = ways.map((way) => way['total'] ?? 0);
      report.figure({ figure: `${name}p50`, value: percentile(totals, 0.5), unit: 'ms', n: count });
      report.figure({ figure: `${name}p99`, value: percentile(totals, 0.99), unit: 'ms', n: count });
      for (const part of Object.keys(ways[0] ?? {}).filter((part) => part !== 'total')) {
        report.figure({
          figure: `${name}${part}`,
          value: percentile(
            ways.map((way) => way[part] ?? 0),
            0.5,
          ),
          unit: 'ms',
          n: count,
        });
      }
    }
  } finally {
    await stack.stop();
    await git.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function readySlots(stack: Stack): Promise<number> {
  const url = new URL(stack.url);
  const response = await fetch(
    `http://127.0.0.1:${Number(url.port) + METRICS_OFFSET + PORT_OFFSETS['runtime-api']}/metrics`,
    {
      signal: AbortSignal.timeout(5_000),
    },
  );
  return Number(/pool_ready_slots\{[^}]*\} (\d+)/.exec(await response.text())?.[1] ?? 0);
}

/** Makes a conversation, subscribes as soon as its id is known, and gives the sandbox back in the end. */
async function firstEvent(stack: Stack, user: SignedInClient, repository: string | undefined): Promise<Way> {
  const orgId = user.me.orgs[0]?.id ?? '';
  const beganAt = Date.now();
  const began = performance.now();
  const response = await user.fetch(`/api/v1/orgs/${orgId}/conversations`, {
    method: 'POST',
    json: { prompt: 'Leave a short note.', repository },
  });
  const { id } = (await response.json()) as Conversation;
  const answered = performance.now() - began;
  const watcher = new ConversationWatcher(stack.url, user.cookie, { orgId, conversationId: id });
  const first = await watcher.waitFor('an event of the agent', ({ event }) => event.source === 'agent');
  const total = (watcher.arrivals[watcher.log.indexOf(first)] ?? 0) - began;
  await watcher.waitForExecution('finished');
  const way = { total, answered, ...partsOf(watcher.log, first, beganAt, beganAt + total) };
  await user.fetch(`/api/v1/orgs/${orgId}/conversations/${id}/pause`, { method: 'POST' });
  await watcher.waitFor(
    'the sandbox given back',
    ({ event }) => isUpdate(event, 'sandbox_status') && event.value === 'PAUSED',
  );
  watcher.close();
  return way;
}

/**
 * From the log's own times: until the job began, the steps, and from the agent's event to its arrival. Whole
 * milliseconds.
 */
function partsOf(
  log: readonly LoggedEvent[],
  first: LoggedEvent,
  beganAt: number,
  arrivedAt: number,
): Record<string, number> {
  const parts: Record<string, number> = {};
  for (const { event } of log) {
    if (!isUpdate(event, 'start_task')) continue;
    const step = event.value as StartStep;
    if (step.status === 'WORKING') parts['queued'] = Date.parse(step.startedAt) - beganAt;
    if (step.status === 'STARTING_CONVERSATION')
      parts['agent-started'] = Date.parse(first.event.timestamp) - Date.parse(step.startedAt);
    else if (step.elapsedMs !== undefined && step.status !== 'READY') parts[step.status] = step.elapsedMs;
  }
  return { ...parts, 'on-the-way': arrivedAt - Date.parse(first.event.timestamp) };
}

function isUpdate(
  event: LoggedEvent['event'],
  key: string,
): event is Extract<LoggedEvent['event'], { kind: 'ConversationStateUpdateEvent' }> {
  return event.kind === 'ConversationStateUpdateEvent' && event.key === key;
}
