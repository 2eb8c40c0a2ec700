import { type Envelope, llmKeyContext } from '@slipway/auth/envelope';
import { type LlmSettings } from '@slipway/contracts/agent';
import { gatewayModelOf, type OwnProviders, profileNameOf } from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { ConversationSpendings } from '../conversations/conversation-spending.js';
import { noteProfileUse, profileNamed, type SealedProfile } from './llm-profile.queries.js';

/** Placeholder key for a server that needs none. */
const NO_KEY = 'none';

/** A conversation's way to its model. */
export interface ModelAccess {
  /** As the conversation names it. */
  readonly name: string;
  /** For the agent: a virtual key that is good for this conversation alone, and never a provider's. */
  readonly llm: LlmSettings;
}

/**
 * Gives a conversation the model that it names: one of the gateway's, or a profile of its organization's
 * (`profile/<name>`) as it is at that moment. A provider's key is in memory here for as long as one call to the gateway
 * takes, and in no log, event, checkpoint or sandbox.
 */
export class ConversationModels {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly gateway: LlmGatewayClient,
    /** llm-gateway as a sandbox reaches it, without `/v1`. */
    private readonly llmUrl: string,
    private readonly spendings: Pick<ConversationSpendings, 'apply'>,
  ) {}

  /**
   * Makes a new virtual key; older ones of the conversation end, or have a minute left. Fails closed: without the
   * profile's own key nothing is asked of anybody. That a profile's key is used is in the audit. @throws SlipwayError
   * `model.profile-missing`, `secret.unreadable`, `service.unavailable`.
   */
  async access(row: ConversationRow, signal: AbortSignal, older: 'end' | 'grace' = 'end'): Promise<ModelAccess> {
    const name = profileNameOf(row.model);
    const base_url = `${this.llmUrl}/v1`;
    if (name === null)
      return { name: row.model, llm: { model: row.model, api_key: await this.newKey(row, older, signal), base_url } };
    const profile = await profileNamed(this.pool, row.orgId, name);
    if (profile === null)
      throw new SlipwayError('model.profile-missing', `There is no model profile ${JSON.stringify(name)} any more.`);
    const key = await this.keyOf(row.orgId, profile);
    // Before it goes out: no use without its entry.
    if (key !== null)
      await noteProfileUse(this.pool, row.orgId, profile, {
        conversationId: row.id,
        epoch: row.epoch,
        why: older === 'end' ? 'start' : 'switch',
      });
    const { model, providers } = routeOf(profile, key);
    const api_key = await this.newKey(row, older, signal, providers);
    return {
      name: row.model,
      llm: {
        model,
        api_key,
        base_url,
        ...(profile.temperature === null ? {} : { temperature: profile.temperature }),
        ...(profile.maxOutputTokens === null ? {} : { max_output_tokens: profile.maxOutputTokens }),
      },
    };
  }

  /**
   * The model for an agent that has one of `mayHave`, where its key stays good: between two models of the gateway.
   * `undefined`: it needs another key.
   */
  withSameKey(model: string, mayHave: readonly string[]): LlmSettings | undefined {
    return [...mayHave, model].every((each) => profileNameOf(each) === null)
      ? { model, base_url: `${this.llmUrl}/v1` }
      : undefined;
  }

  /**
   * With another key. No step finds its key ended: the old one works for a minute beside the new one. @throws
   * SlipwayError as `access`.
   */
  async switched(row: ConversationRow, signal: AbortSignal): Promise<LlmSettings> {
    return (await this.access(row, signal, 'grace')).llm;
  }

  /** A key that knows, before anybody has it, whose calls it makes and what the conversation may spend. */
  private async newKey(
    row: ConversationRow,
    older: 'end' | 'grace',
    signal: AbortSignal,
    providers?: OwnProviders,
  ): Promise<string> {
    const key = await this.gateway.generateKey(row, older, signal, providers);
    await this.spendings.apply(row.orgId, row.id, signal, true);
    return key;
  }

  private keyOf(orgId: string, profile: SealedProfile): Promise<string> | null {
    const { sealed, keyVersion } = profile;
    if (sealed === null || keyVersion === null) return null;
    return this.envelope.open(orgId, { bytes: sealed, keyVersion }, llmKeyContext(profile)).catch((error: unknown) => {
      throw new SlipwayError('secret.unreadable', `The key of the model profile ${profile.name} cannot be opened.`, {
        cause: error,
      });
    });
  }
}

/** What the gateway calls the model, and with whose key. */
export function routeOf(
  { model, baseUrl }: Pick<SealedProfile, 'model' | 'baseUrl'>,
  apiKey: string | null,
): { model: string; providers?: OwnProviders } {
  const { model: routed, own } = gatewayModelOf({ model, baseUrl, hasKey: apiKey !== null });
  if (!own) return { model: routed };
  const [provider = ''] = routed.split('/', 1);
  return {
    model: routed,
    providers: { [provider]: { apiKey: apiKey ?? NO_KEY, ...(baseUrl === null ? {} : { baseUrl }) } },
  };
}
