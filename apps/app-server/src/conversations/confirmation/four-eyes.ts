import type { Principal } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { askersOf } from './askers.queries.js';

/**
 * Where the organization asks for four eyes, a yes is given by a user for whom the agent does not work. Under the
 * conversation's lock, so that nobody becomes an asker in between.
 * @returns whether four eyes is asked for.
 * @throws SlipwayError `conversation.four-eyes`
 */
export async function assertFourEyes(client: PoolClient, caller: Principal, conversationId: string): Promise<boolean> {
  if (!(await readOrgSettings(client, caller.orgId)).fourEyes) return false;
  if (caller.actor.kind !== 'user')
    throw new SlipwayError(
      'conversation.four-eyes',
      'In this organization only users approve; a service account does not.',
    );
  if ((await askersOf(client, caller.orgId, conversationId)).has(caller.actor.id))
    throw new SlipwayError(
      'conversation.four-eyes',
      'In this organization nobody approves what an agent does for them: somebody else has to.',
    );
  return true;
}
