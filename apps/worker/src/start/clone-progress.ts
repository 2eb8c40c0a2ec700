import { setTimeout as wait } from 'node:timers/promises';
import type { AgentClient } from '@slipway/agent-client';
import { runCommand } from '../clients/agent-server.js';
import type { StartContext } from './start-context.js';
import { progressOf, progressScript, type WorkspacePlan } from './workspace-script.js';

/** A clone that takes longer than this shows how far it is. Milliseconds. */
const FIRST_MS = 1_000;
/** Each wait is longer than the one before: about sixty an hour, and as many events at most. */
const GROWTH = 1.1;
const LOOK_SECONDS = 5;

type CloneContext = Pick<StartContext, 'attempt' | 'agent' | 'plan'>;

/** Waits for `made`, and reports git's progress meanwhile as detail of the running step. A failed poll is skipped. */
export async function withProgress<T>(made: Promise<T>, start: CloneContext, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const looks = look(start, AbortSignal.any([signal, over.signal]));
  try {
    return await made;
  } finally {
    over.abort();
    await looks;
  }
}

/**
 * What git said last of how far the clone is, also of one that was ended; `null` when nothing of the repository has
 * come. @throws SlipwayError `sandbox.unreachable`.
 */
export async function progressNow(
  agent: AgentClient,
  plan: WorkspacePlan,
  signal: AbortSignal,
): Promise<string | null> {
  const { stdout } = await runCommand(agent, progressScript(plan), { timeoutSeconds: LOOK_SECONDS }, signal);
  return progressOf(stdout ?? '');
}

async function look({ attempt, agent, plan }: CloneContext, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_MS; ; pause *= GROWTH) {
    try {
      await wait(pause, undefined, { signal });
      const line = await progressNow(agent, plan, signal);
      if (line !== null) await attempt.report(line);
    } catch {
      if (signal.aborted) return;
    }
  }
}
