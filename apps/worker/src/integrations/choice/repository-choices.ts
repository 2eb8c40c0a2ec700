import type { Envelope } from '@slipway/auth/envelope';
import type { DeliveryReason } from '@slipway/contracts/integrations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { baseUrlOf, type Intent, NO_REPOSITORY, type Provider } from '@slipway/integrations';
import { credentialSecretsOf } from '@slipway/integrations/credentials';
import { examine, findDelivery, type StoredDelivery } from '@slipway/integrations/deliveries';
import { connectionsByPrefix, findChoice, hasCodeHost, type WaitingChoice } from './choice.queries.js';

/** What was chosen, with what had been asked for. */
export interface Chosen {
  readonly waiting: WaitingChoice;
  /** Of the same actor, in their order; never empty. */
  readonly intents: readonly Intent[];
  /** `null`: none, as was chosen. */
  readonly repository: string | null;
}

/** Asks in a thread which repository is meant, where nothing says it, and reads the choice. */
export class RepositoryChoices {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly providers: ReadonlyMap<string, Provider>,
  ) {}

  /** The value of a choice; `null`: the intent is another. */
  valueOf({ connection }: StoredDelivery, intent: Intent): string | null {
    return this.providers.get(connection.provider)?.choice?.chosen(intent) ?? null;
  }

  /** Whether there is anything to choose with, and from. */
  async canAsk({ orgId, connection }: StoredDelivery): Promise<boolean> {
    if (this.providers.get(connection.provider)?.choice === undefined) return false;
    const hosts = [...this.providers.values()].filter(({ codeHost }) => codeHost !== undefined).map(({ id }) => id);
    return inOrg(
      this.pool,
      orgId,
      async (client) =>
        (await hasCodeHost(client, orgId, hosts)) && (await credentialSecretsOf(client, orgId)).has(connection.id),
    );
  }

  /** @returns what is to start, or why nothing does. */
  async read(
    { orgId, connection }: StoredDelivery,
    { thread, actor }: Intent,
    value: string,
  ): Promise<Chosen | DeliveryReason> {
    const waiting = await inOrg(this.pool, orgId, (client) =>
      findChoice(client, orgId, { connectionId: connection.id, threadKey: thread.key, lock: false }),
    );
    if (waiting === null) return 'nothing-to-choose';
    if (waiting.actorId !== actor.id) return 'choice-of-another';
    const repository = value === NO_REPOSITORY ? null : await this.urlOf(orgId, value);
    if (repository === null && value !== NO_REPOSITORY) return 'nothing-to-choose';
    const intents: Intent[] = [];
    for (const id of waiting.deliveries) {
      const asked = await inOrg(this.pool, orgId, (client) => findDelivery(client, orgId, id));
      if (asked === null || asked.connection.id !== connection.id) continue;
      const { reading } = await examine(this.pool, this.envelope, this.providers.get(connection.provider), asked);
      if (reading.kind === 'intent' && reading.intent.actor.id === actor.id && reading.intent.thread.key === thread.key)
        intents.push(reading.intent);
    }
    return intents.length === 0 ? 'nothing-to-choose' : { waiting, intents, repository };
  }

  /** Of `first 8 letters of the connection's id, blank, owner/name`. */
  private async urlOf(orgId: string, value: string): Promise<string | null> {
    const [, prefix = '', fullName = ''] =
      /^([0-9a-f]{8}) ((?!\.{1,2}\/)[\w.-]{1,100}(?:\/(?!\.{1,2}(?:\/|$))[\w.-]{1,100}){1,20})$/.exec(value) ?? [];
    if (fullName === '') return null;
    const [connection, ...others] = await inOrg(this.pool, orgId, (client) =>
      connectionsByPrefix(client, orgId, prefix),
    );
    if (
      connection === undefined ||
      others.length > 0 ||
      this.providers.get(connection.provider)?.codeHost === undefined
    )
      return null;
    return `${baseUrlOf(connection)}/${fullName}`;
  }
}
