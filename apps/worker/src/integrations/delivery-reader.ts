import type { Envelope } from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import { baseUrlOf, type Provider, ProviderRefusal } from '@slipway/integrations';
import {
  type Examined,
  examine,
  examineAs,
  needsRereading,
  openDelivery,
  type StoredDelivery,
  unconfirmed,
} from '@slipway/integrations/deliveries';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Logger } from '@slipway/telemetry';
import type { ConnectionCalls, OpenedConnection } from './connection-calls.js';
import { BAD_TOKEN, NO_TOKEN } from './write-access.js';
import { needAttention } from './write-access.queries.js';

/** For all requests about one delivery. Milliseconds. */
const REREAD_MS = 15_000;
/** What the provider does not know yet may be on its way to the part of it that answers. */
const MISSING_ATTEMPTS = 3;

export interface Looked {
  readonly examined: Examined;
  /**
   * The provider is to be asked again; `examined` holds should that be too late. @member at not before; `null`: it does
   * not say.
   */
  readonly later: { readonly why: string; readonly at: Date | null } | null;
}

/** Examines deliveries, and rereads at the provider what a signature does not cover. */
export class DeliveryReader {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly calls: ConnectionCalls,
    private readonly logger: Logger,
  ) {}

  /** @throws SlipwayError `secret.unreadable`; what the database throws. */
  async look(stored: StoredDelivery, signal: AbortSignal): Promise<Looked> {
    const provider = this.providers.get(stored.connection.provider);
    const examined = await examine(this.pool, this.envelope, provider, stored);
    return provider !== undefined && needsRereading(provider, stored, examined)
      ? this.lookAgain(stored, provider, signal)
      : { examined, later: null };
  }

  private async lookAgain(stored: StoredDelivery, provider: Provider, signal: AbortSignal): Promise<Looked> {
    const { orgId, connection, receivedAt } = stored;
    const { rereading } = provider;
    if (rereading === undefined) throw new Error('a delivery is to be reread without a provider to ask');
    const said = await openDelivery(this.envelope, provider, stored);
    let opened: OpenedConnection | null = null;
    try {
      opened = await this.calls.open(orgId, connection, rereading);
      if (opened === null) return final(NO_TOKEN);
      const client = opened.client(AbortSignal.any([signal, AbortSignal.timeout(REREAD_MS)]));
      const reread = await rereading.reread(client, said, { baseUrl: baseUrlOf(connection), receivedAt });
      if ('unconfirmed' in reread) return final(reread.unconfirmed);
      return { examined: await examineAs(this.pool, provider, stored, reread.delivery), later: null };
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusedAddress(error))
        return final(`${connection.host} is not at a public address, and the operator has not named it.`);
      if (!(error instanceof ProviderRefusal)) throw error;
      this.logger.warn(
        { connection_id: connection.id, delivery_id: stored.id, err: error },
        'provider did not confirm a delivery',
      );
      return this.refused(stored, opened?.tokenId ?? null, error);
    }
  }

  private async refused(
    { orgId, connection, attempts }: StoredDelivery,
    tokenId: string | null,
    refusal: ProviderRefusal,
  ): Promise<Looked> {
    switch (refusal.kind) {
      case 'limited':
        return later('The provider limits our calls.', refusal.retryAt);
      case 'unavailable':
        return later(
          `${connection.host} does not answer${refusal.status === null ? '' : ` (${refusal.status})`}.`,
          refusal.retryAt,
        );
      case 'missing': {
        const why = 'The provider does not know what it names, or does not show it to the account of the connection.';
        return attempts < MISSING_ATTEMPTS ? later(why, null) : final(why);
      }
      case 'credential':
        if (tokenId !== null)
          await needAttention(this.pool, orgId, { connectionId: connection.id, tokenId, why: BAD_TOKEN });
        return final(BAD_TOKEN);
      case 'forbidden':
        return final('The account of the connection may not read it.');
      default:
        return final(`The provider's answer is none that we know (${refusal.kind}).`);
    }
  }
}

const final = (why: string): Looked => ({ examined: unconfirmed(why), later: null });
const later = (why: string, at: Date | null): Looked => ({ examined: unconfirmed(why), later: { why, at } });
