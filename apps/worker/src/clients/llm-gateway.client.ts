import { LedgerCalls } from '@slipway/contracts/conversations';
import {
  type BudgetStops,
  type ChargePass,
  type ConversationSpending,
  GatewayModelList,
  GeneratedKey,
  LedgerPage,
  type OrgLimits,
  type OwnProviders,
  type PromptPolicies,
} from '@slipway/contracts/models';
import { callJson, callText, type PeerCall } from './peer-call.js';

/** A key outlives any sandbox that holds it; a new start ends it. Seconds. */
const KEY_SECONDS = 30 * 86_400;
/**
 * How long the key before works on beside one that an agent at work is about to be given. Longer than it takes to give
 * it; seconds.
 */
const GRACE_SECONDS = 60;
const CALL_TIMEOUT_MS = 5_000;

/** llm-gateway's keys. No answer is `service.unavailable`. */
export class LlmGatewayClient {
  constructor(private readonly options: { url: string; masterKey: string }) {}

  /**
   * A new key for one conversation.
   * @param older `end`: they stop to work at once, so that a sandbox that was given up cannot spend. `grace`: an agent
   * at work still has one, which must not be refused in the middle of a step.
   * @param providers keys of providers that calls with it, and no others, are made with.
   */
  async generateKey(
    conversation: { orgId: string; id: string; createdBy: string; createdByLabel: string; repository: string | null },
    older: 'end' | 'grace',
    signal: AbortSignal,
    providers?: OwnProviders,
  ): Promise<string> {
    const { key } = await callJson(
      {
        method: 'POST',
        url: `${this.options.url}/key/generate`,
        headers: { authorization: `Bearer ${this.options.masterKey}` },
        body: {
          key_alias: `conversation ${conversation.id}`,
          duration_seconds: KEY_SECONDS,
          ...(older === 'grace' ? { grace_seconds: GRACE_SECONDS } : {}),
          ...(providers === undefined ? {} : { providers }),
          metadata: {
            org_id: conversation.orgId,
            conversation_id: conversation.id,
            user_id: conversation.createdBy,
            user_label: conversation.createdByLabel,
            ...(conversation.repository === null ? {} : { repository: conversation.repository }),
          },
        },
        timeoutMs: CALL_TIMEOUT_MS,
        signal,
        peer: 'The model gateway',
        unreachable: 'service.unavailable',
      },
      GeneratedKey,
    );
    return key;
  }

  /** Ends every key of one conversation. Repeatable. */
  async deleteKeys(conversationId: string, signal: AbortSignal): Promise<void> {
    await callText({
      method: 'POST',
      url: `${this.options.url}/key/delete`,
      headers: { authorization: `Bearer ${this.options.masterKey}` },
      body: { conversation_id: conversationId },
      timeoutMs: CALL_TIMEOUT_MS,
      signal,
      peer: 'The model gateway',
      unreachable: 'service.unavailable',
    });
  }

  /** Whose calls a conversation's keys make from now on, and what it may spend in all. Repeatable. */
  async putSpending(conversationId: string, spending: ConversationSpending, signal: AbortSignal): Promise<void> {
    await callText({
      ...this.internal,
      method: 'PUT',
      url: `${this.options.url}/internal/spending/${conversationId}`,
      body: spending,
      signal,
    });
  }

  /** A few calls of a conversation that come with a pass count for who gave it. Repeatable. */
  async putChargePass(pass: ChargePass, signal: AbortSignal): Promise<void> {
    await callText({
      ...this.internal,
      method: 'POST',
      url: `${this.options.url}/internal/charge-passes`,
      body: pass,
      signal,
    });
  }

  /** What it offers. */
  async models(
    signal: AbortSignal,
  ): Promise<ReadonlyArray<{ readonly id: string; readonly default?: boolean | undefined }>> {
    return (
      await callJson(
        { ...this.internal, method: 'GET', url: `${this.options.url}/v1/models`, signal },
        GatewayModelList,
      )
    ).data;
  }

  /** Calls after a position, of every organization. */
  ledger(after: number, signal: AbortSignal): Promise<LedgerPage> {
    return callJson(
      { ...this.internal, method: 'GET', url: `${this.options.url}/internal/ledger?after=${after}`, signal },
      LedgerPage,
    );
  }

  /**
   * Calls of one conversation that began in `[from, to)`, milliseconds since 1970; `null` is no bound. `limit` at most.
   */
  calls(
    orgId: string,
    conversationId: string,
    range: { from: number | null; to: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<LedgerCalls> {
    const query = new URLSearchParams({ limit: String(range.limit) });
    if (range.from !== null) query.set('from', new Date(range.from).toISOString());
    if (range.to !== null) query.set('to', new Date(range.to).toISOString());
    const url = `${this.options.url}/internal/calls/${encodeURIComponent(orgId)}/${conversationId}?${query}`;
    return callJson({ ...this.internal, method: 'GET', url, signal }, LedgerCalls);
  }

  /** Users of an organization that the gateway refuses from now on; it admits all others. */
  async replaceBudgetStops(orgId: string, stops: BudgetStops['stops'], signal: AbortSignal): Promise<void> {
    await callText({
      ...this.internal,
      method: 'PUT',
      url: `${this.options.url}/internal/budget-stops/${encodeURIComponent(orgId)}`,
      body: { stops },
      signal,
    });
  }

  /** What an organization and its people may spend from now on: the gateway reserves each call's cost of it. */
  async replaceLimits(orgId: string, limits: OrgLimits, signal: AbortSignal): Promise<void> {
    await callText({
      ...this.internal,
      method: 'PUT',
      url: `${this.options.url}/internal/limits/${encodeURIComponent(orgId)}`,
      body: limits,
      signal,
    });
  }

  /** Organizations whose prompts are stored from now on, and for how many days; no others are. */
  async replacePromptPolicies(policies: PromptPolicies['policies'], signal: AbortSignal): Promise<void> {
    await callText({
      ...this.internal,
      method: 'PUT',
      url: `${this.options.url}/internal/prompt-policies`,
      body: { policies },
      signal,
    });
  }

  private get internal(): Pick<PeerCall, 'headers' | 'timeoutMs' | 'peer' | 'unreachable'> {
    return {
      headers: { authorization: `Bearer ${this.options.masterKey}` },
      timeoutMs: CALL_TIMEOUT_MS,
      peer: 'The model gateway',
      unreachable: 'service.unavailable',
    };
  }
}
