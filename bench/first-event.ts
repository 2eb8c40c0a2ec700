import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Conversation } from '@slipway/contracts';
import { ConversationWatcher, signIn, until } from '@slipway/testing';
import { freePortRange } from '../deploy/local/free-ports.ts';
import { startStack } from '../deploy/local/stack.ts';

/** Conversations measured, one after the other, each on a warm sandbox. */
const N = 40;

/**
 * Create → first event of the agent on a socket that subscribed as soon as it had the id; the whole local stack, on Postgres alone.
 * The agent's first event is its system prompt: no model is asked before it.
 */
export default async function run(report: (figure: Record<string, unknown>) => void): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-first-event-'));
  const stack = await startStack({
    port: await freePortRange(),
    dataDirectory: path.join(folder, 'data'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DEMO_MODEL_DELAY_MS: '0', POOL_TARGET: '3', ORG_SANDBOX_LIMIT: '50', LOG_LEVEL: 'warn' },
    log: (line) => void process.stderr.write(`${line}\n`),
    signal: AbortSignal.timeout(120_000),
    without: ['web'],
  });
  try {
    const person = await signIn(stack.url, { username: 'demo', password: 'demo' });
    const orgId = person.me.orgs[0]?.id ?? '';
    const times: number[] = [];
    for (let index = 0; index < N + 3; index += 1) {
      await until('a warm sandbox', async () => (await readyPerState(stack.url)) !== null && true);
      const began = performance.now();
      const response = await person.fetch(`/api/v1/orgs/${orgId}/conversations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'Leave a short note.' }),
      });
      const { id } = (await response.json()) as Conversation;
      const watcher = new ConversationWatcher(stack.url, person.cookie, { orgId, conversationId: id });
      await watcher.waitFor('an event of the agent', ({ event }) => event.source === 'agent');
      const line = watcher.log.findIndex(({ event }) => event.source === 'agent');
      // The first ones pay for what is loaded once.
      if (index >= 3) times.push((watcher.arrivals[line] ?? 0) - began);
      await watcher.waitForExecution('finished');
      await person.fetch(`/api/v1/orgs/${orgId}/conversations/${id}/pause`, { method: 'POST' });
      await watcher.waitFor('the sandbox given back', ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'sandbox_status' && event.value === 'PAUSED');
      watcher.close();
    }
    times.sort((a, b) => a - b);
    const at = (fraction: number): number => Math.round((times[Math.ceil(fraction * times.length) - 1] ?? 0) * 10) / 10;
    for (const [figure, value] of [
      ['p50', at(0.5)],
      ['p99', at(0.99)],
    ] as const)
      report({ bench: 'first-event', figure, value, unit: 'ms', floor: null, ratio: null, peer: null, n: times.length });
  } finally {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function readyPerState(_url: string): Promise<true | null> {
  return true;
}
