import type { Principal } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { type HostPattern, namesHost } from '@slipway/net';
import { askersOf } from '../../conversations/confirmation/askers.queries.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';

/** Waiting requests that are looked at; each costs one query. */
const MAX_REQUESTS = 100;

/**
 * A rule is no way around four eyes: whoever may not answer a request that waits may not write, or take away, a rule
 * that answers it. What an admin writes ahead of every request is a decision about the organization, and theirs.
 * @param conversation of a rule for one conversation; `null` for a wider one.
 * @throws SlipwayError `conversation.four-eyes`
 */
export async function assertMayRule(
  client: PoolClient,
  caller: Principal,
  { pattern, conversation }: { readonly pattern: HostPattern; readonly conversation: string | null },
): Promise<void> {
  if (!(await readOrgSettings(client, caller.orgId)).fourEyes) return;
  if (caller.actor.kind !== 'user')
    throw new SlipwayError(
      'conversation.four-eyes',
      'In this organization only users approve; a service account does not.',
    );
  const concerned = conversation === null ? await waitingFor(client, caller.orgId, pattern) : [conversation];
  for (const id of concerned)
    if ((await askersOf(client, caller.orgId, id)).has(caller.actor.id))
      throw new SlipwayError(
        'conversation.four-eyes',
        'In this organization nobody approves what an agent does for them: somebody else has to write this rule.',
      );
}

/** Conversations in which a request waits that the pattern is about. */
async function waitingFor(client: PoolClient, orgId: string, pattern: HostPattern): Promise<string[]> {
  const { rows } = await client.query<{ conversation_id: string; host: string; port: number }>(
    `SELECT DISTINCT conversation_id, host, port FROM app.egress_request WHERE org_id = $1 AND state = 'waiting' LIMIT ${MAX_REQUESTS}`,
    [orgId],
  );
  const about = rows.filter(
    ({ host, port }) => namesHost(pattern, host) && (pattern.port === null || pattern.port === port),
  );
  return [...new Set(about.map((row) => row.conversation_id))];
}
