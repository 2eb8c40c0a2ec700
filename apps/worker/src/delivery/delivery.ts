import type { AgentClient } from '@slipway/agent-client';
import { claimInbox } from '@slipway/db/conversations';
import type { SqlPool } from '@slipway/db/sql';
import type { ConversationLog } from '../conversations/conversation-log.js';
import type { ConversationSpendings } from '../conversations/conversation-spending.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import { AttachedFiles, namingThem } from './attached-files.js';

/**
 * Hands the inbox to the agent: in order, each message under its own id, so that handing it over twice is handing it
 * over once.
 */
export class Delivery {
  readonly files: AttachedFiles;

  constructor(
    private readonly pool: SqlPool,
    private readonly log: ConversationLog,
    private readonly spendings: ConversationSpendings,
  ) {
    this.files = new AttachedFiles(pool);
  }

  /**
   * Ends when nothing is left that has not been handed over. A message is claimed (no longer withdrawable) before it is
   * sent.
   * Its files are in the sandbox before it: written again when it is handed over again.
   * @param directory where the agent works, when it was made just now; absent: as it is known.
   * @returns how many messages were handed over.
   * @throws SlipwayError `sandbox.unreachable` when the sandbox does not answer; what was claimed stays for the next
   * delivery.
   */
  async deliver(
    held: HeldConversation,
    agent: AgentClient,
    { directory = held.row.workingDir }: { readonly directory?: string | null },
    signal: AbortSignal,
  ): Promise<number> {
    const sent = new Set<string>();
    for (;;) {
      const { messages, claimed } = await claimInbox(this.pool, held.orgId, held.id);
      if (claimed > 0) this.log.inboxChanged(held.orgId, held.id);
      const next = messages.filter((message) => !sent.has(message.id));
      if (next.length === 0) return sent.size;
      for (const message of next) {
        if (message.notice !== null) {
          await notify(held.id, agent, message, signal);
          sent.add(message.id);
          continue;
        }
        // Before the agent has it: no call that it causes counts for another user.
        await this.spendings.charge(
          held.orgId,
          held.id,
          { id: message.createdBy, label: message.createdByLabel },
          signal,
        );
        const files = await this.files.ofMessage({ held, agent, directory }, message.id, signal);
        const event = {
          role: 'user' as const,
          content: [{ type: 'text' as const, text: message.text }, ...namingThem(files)],
          ...(files.length === 0 ? {} : { attachments: files.map(({ attachment }) => attachment) }),
          run: true,
          event_id: message.id,
          sender: message.createdByLabel,
          sender_id: message.createdBy,
        };
        await agent.call('sendEvent', { id: held.id, body: event }, { signal });
        sent.add(message.id);
      }
    }
  }
}

/** A notice of the platform: it counts for nobody's spending, and names no user. */
async function notify(
  id: string,
  agent: AgentClient,
  { id: event, text, notice }: { readonly id: string; readonly text: string; readonly notice: string | null },
  signal: AbortSignal,
): Promise<void> {
  const body = {
    role: 'user' as const,
    content: [{ type: 'text' as const, text }],
    notice: true,
    run: notice === 'start',
    event_id: event,
  };
  await agent.call('sendEvent', { id, body }, { signal });
}
