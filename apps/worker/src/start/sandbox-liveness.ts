import { setTimeout as wait } from 'node:timers/promises';
import { type AgentClient, probe } from '@slipway/agent-client';
import { LEASE_MS } from '@slipway/contracts/events';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { renewLease } from '../conversations/conversation.queries.js';
import type { HeldConversation } from '../conversations/held-conversation.js';

/** Probes before a sandbox is given up. One refused connection may be a restart of its process. */
const PROBES = 3;
const PAUSE_MS = 300;

/**
 * Whether the sandbox of the row still has the conversation.
 *
 * runtime-api is asked first: it has seen a sandbox end long before its address times out, and gives up none that is
 * alive. After that agent-server's own answer counts, whatever the lease says: then app-server is the one that is away.
 * A sandbox that is `silent` is dead only when the lease is over as well: two sandboxes for one conversation cost more
 * than a late one.
 *
 * @throws the signal's reason only.
 */
export async function probeSandbox(
  held: HeldConversation,
  agent: AgentClient,
  { runtime, pool }: { readonly runtime: RuntimeApiClient; readonly pool: SqlPool },
  signal: AbortSignal,
): Promise<'alive' | 'dead'> {
  for (let attempt = 1; ; attempt += 1) {
    const known = await statusFrom(held, runtime, signal);
    if (known === 'over') return 'dead';
    const answer = await probe(agent, held.id, signal);
    if (answer === 'alive') {
      await renewLease(pool, held.orgId, held.id, LEASE_MS);
      return 'alive';
    }
    if (answer === 'dead' && known !== 'running') return 'dead';
    if (attempt >= PROBES) {
      if (answer === 'dead') return 'dead';
      await held.refresh();
      return held.row.leaseFresh ? 'alive' : 'dead';
    }
    await wait(PAUSE_MS, undefined, { signal });
  }
}

/** What runtime-api knows of the sandbox. `running` on doubt, as when it does not answer. */
async function statusFrom(
  held: HeldConversation,
  runtime: RuntimeApiClient,
  signal: AbortSignal,
): Promise<'running' | 'starting' | 'over'> {
  try {
    const session = await runtime.session(held.orgId, held.id, signal);
    return session === null
      ? 'over'
      : session.status === 'running' || session.status === 'starting'
        ? session.status
        : 'over';
  } catch (error) {
    if (error instanceof SlipwayError) return 'running';
    throw error;
  }
}
