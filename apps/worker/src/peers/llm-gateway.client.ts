import { GeneratedKey } from '@slipway/contracts';
import { callJson } from './peer-call.js';

/** A key outlives any sandbox that holds it; a new start ends it. Seconds. */
const KEY_SECONDS = 30 * 86_400;
const CALL_TIMEOUT_MS = 5_000;

/** llm-gateway's keys. No answer is `service.unavailable`. */
export class LlmGatewayClient {
  constructor(private readonly options: { url: string; masterKey: string }) {}

  /** A new key for one conversation; its older ones end. */
  async generateKey(conversation: { orgId: string; id: string; createdBy: string }, signal: AbortSignal): Promise<string> {
    const { key } = await callJson(
      {
        method: 'POST',
        url: `${this.options.url}/key/generate`,
        headers: { authorization: `Bearer ${this.options.masterKey}` },
        body: {
          key_alias: `conversation ${conversation.id}`,
          duration_seconds: KEY_SECONDS,
          metadata: { org_id: conversation.orgId, conversation_id: conversation.id, user_id: conversation.createdBy },
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
}
