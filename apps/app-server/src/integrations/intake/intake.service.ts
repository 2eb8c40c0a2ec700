import { createHash } from 'node:crypto';
import { deliveryContext, type Envelope } from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import {
  type Delivery,
  type Provider,
  type ReadDelivery,
  type SignatureRefusal,
  type SignatureScheme,
  signedTimeRefusal,
  verifySignature,
} from '@slipway/integrations';
import { packDelivery, readBody, withoutSecrets } from '@slipway/integrations/deliveries';
import type { WindowCounter } from '@slipway/queue';
import type { Jobs } from '../../platform/jobs.js';
import type { DeliveryTarget, DeliveryTargets } from './delivery-target.js';
import { noteVerified, takeDelivery } from './intake.queries.js';
import type { RepositorySuggestions } from './repository-suggestions.js';

/** Longest that an id or a name of an event is kept as it is. Characters. */
const MAX_NAME = 200;
/** A provider reads without its connection here: only a challenge is read. */
const NO_CONTEXT = {
  own: { ids: [], mention: 'slipway' },
  labels: [],
  bots: [],
  confidential: false,
  ours: () => false,
} as const;

export type Taken =
  | { readonly outcome: 'stored' | 'duplicate' }
  /** No organization has claimed the account that the signed body names. */
  | { readonly outcome: 'unclaimed' }
  /** To be answered with this text. */
  | { readonly outcome: 'challenge'; readonly answer: string }
  /** Of something that is being typed: answered with this JSON, and not kept. */
  | { readonly outcome: 'suggested'; readonly answer: object }
  | { readonly outcome: 'refused'; readonly refusal: SignatureRefusal | 'no-connection' };

export interface DeliverySource {
  readonly provider: Provider;
  readonly scheme: SignatureScheme;
  readonly connection: { readonly id: string; readonly orgId: string };
}

/** Takes a delivery in, whole and once: steps 3 to 5 of docs/integrations. Decides nothing about what it asks for. */
export class Intake {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly targets: DeliveryTargets,
    private readonly jobs: Jobs,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly suggestions: RepositorySuggestions,
    /** Deliveries that held, of one connection in a minute. */
    private readonly limit: { readonly points: number; readonly count: WindowCounter },
  ) {}

  /** @throws SlipwayError `rate.limited`; what the database throws, and then nothing is kept. */
  async take(provider: Provider, target: DeliveryTarget, delivery: Delivery): Promise<Taken> {
    const now = this.clock.now();
    const refusal = verifySignature(target.scheme, target.secrets, delivery, now);
    if (refusal !== null) return { outcome: 'refused', refusal };
    if (target.connection === null) return { outcome: 'refused', refusal: 'no-connection' };
    const read = readBody(delivery, provider.form);
    const late = signedTimeRefusal(target.scheme, read.body, now);
    if (late !== null) return { outcome: 'refused', refusal: late };
    const challenge = attempt(() => provider.read(read, NO_CONTEXT));
    const connection = target.connection === 'platform' ? await this.claimed(provider, read) : target.connection;
    if (challenge?.kind === 'challenge') {
      if (connection !== null) await noteVerified(this.pool, connection.orgId, connection.id);
      return { outcome: 'challenge', answer: challenge.answer };
    }
    if (connection === null) return { outcome: 'unclaimed' };
    return this.takeProved({ provider, scheme: target.scheme, connection }, delivery, read);
  }

  /** A delivery by a socket of a connection, authenticated by the socket. @throws as `take` */
  takeFromSocket(
    provider: Provider,
    connection: { readonly id: string; readonly orgId: string },
    body: object,
  ): Promise<Taken> {
    const delivery: Delivery = {
      headers: { 'content-type': 'application/json' },
      raw: Buffer.from(JSON.stringify(body)),
    };
    return this.takeProved({ provider, scheme: { kind: 'socket' }, connection }, delivery, readBody(delivery, false));
  }

  private async takeProved(
    { provider, scheme, connection }: DeliverySource,
    delivery: Delivery,
    read: ReadDelivery,
  ): Promise<Taken> {
    await this.assertRate(connection.id);
    const wanted = attempt(() => provider.choice?.suggestsFor(read) ?? null) ?? null;
    if (wanted !== null && provider.choice !== undefined)
      return {
        outcome: 'suggested',
        answer: provider.choice.suggestions(
          await this.suggestions.of(provider, connection, wanted.typed, wanted.actor),
        ),
      };
    const outcome = await this.keep({ provider, scheme, connection }, delivery, read);
    // Deleted since it was found.
    return outcome === 'gone' ? { outcome: 'refused', refusal: 'no-connection' } : { outcome };
  }

  private async keep(
    { provider, scheme, connection }: DeliverySource,
    delivery: Delivery,
    read: ReadDelivery,
  ): Promise<'stored' | 'duplicate' | 'gone'> {
    const id = this.ids.uuid();
    const packed = await packDelivery({ headers: withoutSecrets(delivery.headers, scheme), raw: delivery.raw });
    const sealed = await this.envelope.seal(
      connection.orgId,
      packed,
      deliveryContext({ id, connectionId: connection.id }),
    );
    const outcome = await takeDelivery(this.pool, connection.orgId, {
      id,
      connectionId: connection.id,
      deliveryId: nameOf(attempt(() => provider.deliveryId(read)) ?? null) ?? hashOf(delivery.raw),
      event: nameOf(attempt(() => provider.eventName(read)) ?? null) ?? 'unreadable',
      sealed,
      bytes: delivery.raw.byteLength,
      outboxId: this.ids.uuid(),
    });
    if (outcome === 'stored')
      this.jobs.enqueueAs('integration-delivery', id, { orgId: connection.orgId, deliveryId: id });
    return outcome;
  }

  private async claimed(provider: Provider, read: ReadDelivery): Promise<{ id: string; orgId: string } | null> {
    const account = nameOf(attempt(() => provider.tenant.account(read)) ?? null);
    return account === null ? null : this.targets.ofAccount(provider, account);
  }

  private async assertRate(connectionId: string): Promise<void> {
    const { consumed, msBeforeNext } = await this.limit.count(connectionId);
    if (consumed > this.limit.points)
      throw new SlipwayError(
        'rate.limited',
        `More than ${this.limit.points} deliveries of this connection in a minute.`,
        {
          retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)),
        },
      );
  }
}

const hashOf = (raw: Buffer): string => `sha256:${createHash('sha256').update(raw).digest('hex')}`;

/** A name that can be kept and listed; `null`: it is none. */
function nameOf(name: string | null): string | null {
  if (name === null || name.length === 0 || name.length > MAX_NAME || !name.isWellFormed()) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what no column keeps and no list shows
  return /[\u0000-\u001f\u007f]/.test(name) ? null : name;
}

/** A provider never throws; of one that does, nothing is known. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
