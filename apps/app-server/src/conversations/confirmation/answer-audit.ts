import type { SecretBox } from '@slipway/auth';
import { ConfirmationAnswer } from '@slipway/contracts/conversations';
import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { type Principal } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { currentContext, runInContext } from '@slipway/telemetry';
import { z } from 'zod';
import { auditOf } from '../../audit/audit-statement.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { findApproval, isReceiptUsed } from './approvals.queries.js';
import { hadAccess } from './askers.queries.js';

const Receipt = z.object({
  actor: z.object({
    kind: z.enum(['user', 'service-account', 'integration', 'system']),
    id: z.string(),
    label: z.string(),
    viaKey: z.string().optional(),
  }),
  actionIds: z.array(z.string()),
  record: z.object({ action: z.string(), detail: z.looseObject({ actions: z.array(z.string()) }) }),
  /**
   * Of the audit entry that was written before the sandbox had the answer. A no, and an app-server of before, has none:
   * its entry comes with the event.
   */
  entry: z.string().optional(),
  requestId: z.string().optional(),
  address: z.string().optional(),
});
type Receipt = z.infer<typeof Receipt>;

/** What an audit entry says of an answer. */
export interface AnswerRecord {
  readonly action: string;
  /** `fourEyes`: a user gave it who had not asked for what it approves. */
  readonly detail: Readonly<Record<string, unknown>> & {
    readonly actions: readonly string[];
    readonly fourEyes?: true;
  };
}
export const APPROVED = 'conversation.approve';
export const REJECTED = 'conversation.reject';

/** Who is written down when an answer came with the session key alone. */
const NOBODY = { kind: 'integration', id: 'session-key', label: 'A holder of the session key' } as const;

/**
 * The audit entry of an answer to an agent.
 * - The app's yes: written before the sandbox has it, so that no sandbox can keep an approval out of the audit by
 *   losing it.
 * - Every other answer: written in the transaction that stores its event.
 *
 * The app's own answers bring a receipt, sealed so that a sandbox can neither read nor make one: good for one
 * conversation, exactly these actions, and one event. Those through sandbox-gateway bring its name of the user. Under
 * four eyes an acceptance without a good receipt is not stored.
 */
export class AnswerAudit {
  constructor(
    private readonly box: SecretBox,
    private readonly ids: Ids,
  ) {}

  /**
   * Writes down a yes before anybody acts on it. The same user's same yes again, after a crash or a sandbox that did
   * not answer, is the same entry. Inside of a transaction that holds the conversation's row. @returns the id of the
   * entry.
   */
  async approve(client: PoolClient, caller: Principal, conversationId: string, record: AnswerRecord): Promise<string> {
    const known = await findApproval(client, caller, conversationId, record);
    if (known !== null) return known;
    const id = this.ids.uuid();
    await client.query(auditOf(id, caller, { ...record, target: conversationId }));
    return id;
  }

  /** What an answer of the app takes with it into its event. @param entry of a yes, as `approve` returned it. */
  receipt({ actor }: Principal, conversationId: string, record: AnswerRecord, entry?: string): string {
    const context = currentContext();
    const { actions } = record.detail;
    const receipt: Receipt = {
      actor,
      actionIds: [...actions],
      record: { action: record.action, detail: { ...record.detail, actions: [...actions] } },
      ...(entry === undefined ? {} : { entry }),
      ...(context?.requestId === undefined ? {} : { requestId: context.requestId }),
      ...(context?.address == null ? {} : { address: context.address }),
    };
    return this.box.encrypt(JSON.stringify(receipt), contextOf(conversationId)).toString('base64url');
  }

  /**
   * For the events of a sandbox that are new, inside of the transaction that stores them.
   * @throws SlipwayError `request.invalid` under four eyes for an acceptance that the app did not seal, or that comes a
   * second time.
   */
  async write(
    client: PoolClient,
    orgId: string,
    conversationId: string,
    events: readonly ConversationEvent[],
  ): Promise<void> {
    for (const event of events) {
      const answer = stateValueOf(event, 'confirmation');
      if (answer === undefined) continue;
      const receipt = await this.receiptOf(client, orgId, conversationId, { eventId: event.id, answer });
      if (receipt === null && answer.accepted && (await readOrgSettings(client, orgId)).fourEyes)
        throw new SlipwayError(
          'request.invalid',
          'In this organization only Slipway takes a yes: this acceptance is none that it has sealed, or one of before.',
        );
      if (receipt?.entry === undefined) await this.writeOne(client, orgId, conversationId, { answer, receipt });
    }
  }

  private async writeOne(
    client: PoolClient,
    orgId: string,
    target: string,
    { answer, receipt }: { readonly answer: ConfirmationAnswer; readonly receipt: Receipt | null },
  ): Promise<void> {
    const { accepted, action_ids, reason, always, through, by_id: id, by: label, by_kind: kind } = answer;
    const isNamed =
      receipt === null &&
      id !== undefined &&
      through === 'sandbox-gateway' &&
      (await hadAccess(client, orgId, target, id));
    const named = isNamed ? { kind: kind ?? 'user', id, label: short(label ?? id) } : NOBODY;
    const claimed = isNamed ? undefined : (id ?? label);
    const context = { requestId: receipt?.requestId, address: receipt?.address };
    const record = receipt?.record ?? {
      action: accepted ? APPROVED : REJECTED,
      detail: {
        actions: action_ids.slice(0, MAX_ACTIONS).map(short),
        ...(accepted ? {} : { reason: (reason ?? '').slice(0, MAX_REASON) }),
        ...(always === undefined ? {} : { always }),
        ...(claimed === undefined ? {} : { claimed: short(claimed) }),
        through: 'sandbox-gateway',
      },
    };
    const statement = runInContext({ traceId: currentContext()?.traceId ?? '', ...context }, () =>
      auditOf(this.ids.uuid(), { orgId, actor: receipt?.actor ?? named }, { ...record, target }),
    );
    await client.query(statement);
  }

  /**
   * `null` for an answer without one, and for one that was sealed for other actions or elsewhere, or that another event
   * of the log has brought.
   */
  private async receiptOf(
    client: PoolClient,
    orgId: string,
    conversationId: string,
    { eventId, answer }: { readonly eventId: string; readonly answer: ConfirmationAnswer },
  ): Promise<Receipt | null> {
    const receipt = this.opened(conversationId, answer);
    return receipt === null || (await isReceiptUsed(client, orgId, conversationId, eventId)) ? null : receipt;
  }

  private opened(conversationId: string, { receipt, action_ids, accepted }: ConfirmationAnswer): Receipt | null {
    if (receipt === undefined) return null;
    try {
      const sealed = Buffer.from(receipt, 'base64url');
      // Another spelling of the same bytes would be another receipt to who looks for it in the log.
      if (sealed.toString('base64url') !== receipt) return null;
      const found = Receipt.parse(JSON.parse(this.box.decrypt(sealed, contextOf(conversationId))));
      const { action, detail } = found.record;
      const isOfThese = accepted
        ? isSame(action_ids, detail.actions)
        : action_ids.length > 0 && action_ids.every((id) => found.actionIds.includes(id));
      return isOfThese && action === (accepted ? APPROVED : REJECTED) ? found : null;
    } catch {
      return null;
    }
  }
}

function isSame(ids: readonly string[], others: readonly string[]): boolean {
  return ids.length === others.length && new Set([...ids, ...others]).size === ids.length;
}

/** Most of what a sandbox writes that an entry keeps. Actions; characters. */
const [MAX_ACTIONS, MAX_REASON, MAX_NAME] = [100, 2_000, 200];

function short(text: string): string {
  return text.slice(0, MAX_NAME);
}

function contextOf(conversationId: string): string {
  return `answer-receipt:${conversationId}`;
}
