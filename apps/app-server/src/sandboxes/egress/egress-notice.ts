import { type EgressAsker, type EgressRequest, noticeText } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { SandboxRow } from '../../conversations/conversations.queries.js';
import { insertNotice, isLive } from '../../conversations/inbox.queries.js';
import { wantJob } from '../../platform/outbox.queries.js';

/** A request, and the conversation whose row is held. */
export interface ToNotify {
  readonly conversationId: string;
  readonly row: SandboxRow;
  readonly request: EgressRequest;
  /** Whether an idle agent takes a step for it. */
  readonly start: boolean;
}

/**
 * A word to the agent about a request of one of its commands, for its next step. None where no sandbox runs: a paused
 * agent tries again by itself, and is not started; and none about what a user asked from a terminal.
 * @returns whether there is one, and a job that delivers it.
 */
export async function notifyAgent(
  client: PoolClient,
  orgId: string,
  ids: Ids,
  { conversationId, row, request, start }: ToNotify,
): Promise<boolean> {
  if (!isLive(row) || OF_USERS.has(request.actionId)) return false;
  if (!(await insertNotice(client, orgId, conversationId, { id: ids.uuid(), text: noticeText(request), start })))
    return false;
  await wantJob(client, orgId, 'conversation-deliver', conversationId);
  return true;
}

const OF_USERS: ReadonlySet<string | null> = new Set<EgressAsker>(['terminal', 'editor']);
