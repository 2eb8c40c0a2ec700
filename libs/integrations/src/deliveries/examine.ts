import { deliveryContext, type Envelope } from '@slipway/auth/envelope';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { ReadDelivery } from '../delivery.js';
import type { Reading } from '../intent.js';
import type { Provider } from '../provider.js';
import { readBody, unpackDelivery } from './content.js';
import { type Decision, decide, type Standing, withoutIntent } from './decision.js';
import {
  findActor,
  findThreads,
  isRepeated,
  type StoredConnection,
  type StoredDelivery,
} from './deliveries.queries.js';

/** Longest key of a deed or thread that is kept; longer ones are none that a provider of ours makes. Characters. */
const MAX_KEY = 500;

export interface Examined {
  readonly reading: Reading;
  readonly decision: Decision;
  /** What the decision went by; `null` where nothing is asked for. */
  readonly standing: Standing | null;
}

/** Reads a stored delivery and decides its effect by the current database. Writes nothing and makes no request. */
export async function examine(
  pool: SqlPool,
  envelope: Envelope,
  provider: Provider | undefined,
  delivery: StoredDelivery,
): Promise<Examined> {
  if (provider === undefined)
    return nothing({
      kind: 'ignored',
      reason: 'unreadable',
      detail: `${delivery.connection.provider} is not known here`,
    });
  return examineAs(pool, provider, delivery, await openDelivery(envelope, provider, delivery));
}

/** What a stored delivery says. @throws SlipwayError `secret.unreadable` */
export async function openDelivery(
  envelope: Envelope,
  provider: Provider,
  { id, orgId, sealed, connection }: StoredDelivery,
): Promise<ReadDelivery> {
  const content = await unpackDelivery(
    await envelope.open(orgId, sealed, deliveryContext({ id, connectionId: connection.id })),
  );
  return readBody(content, provider.form);
}

/** As `examine`, of what the delivery says by now. */
export function examineAs(
  pool: SqlPool,
  provider: Provider,
  delivery: StoredDelivery,
  read: ReadDelivery,
): Promise<Examined> {
  const { orgId, connection } = delivery;
  const { own, settings } = connection;
  return inOrg(pool, orgId, async (client) => {
    // The provider names the threads that it wants to know about, and then reads with the answer.
    const asked = new Set<string>();
    const readWith = (ours: (key: string) => boolean): Reading =>
      safely(() => provider.read(read, { own, ...settings, ours }));
    const first = readWith((key) => {
      asked.add(key);
      return false;
    });
    const threads = await findThreads(client, orgId, connection.id, [...asked]);
    const reading = threads.size === 0 ? first : readWith((key) => threads.has(key));
    const foreign = foreignTo(connection, provider, read, reading);
    if (foreign !== null)
      return { reading, decision: { state: 'refused', code: foreign, detail: null }, standing: null };
    if (reading.kind !== 'intent') return nothing(reading);
    const { intent } = reading;
    if (intent.semanticKey.length > MAX_KEY || intent.thread.key.length > MAX_KEY)
      return nothing({ kind: 'ignored', reason: 'unreadable', detail: 'a key is too long' });
    const where = { provider: connection.provider, host: connection.host };
    const standing: Standing = {
      disabled: connection.state === 'disabled',
      closing: delivery.closing,
      repeated: await isRepeated(client, orgId, { ...where, semanticKey: intent.semanticKey }, delivery.id),
      thread:
        threads.get(intent.thread.key) ??
        (await findThreads(client, orgId, connection.id, [intent.thread.key])).get(intent.thread.key) ??
        null,
      actor: await findActor(client, orgId, { ...where, id: intent.actor.id }),
    };
    return { reading, standing, decision: decide(intent, standing) };
  });
}

/**
 * Why a delivery to the app of a connection is not the connection's to act on: whoever owns an app can let others
 * install it, and what their installation delivers is signed by the same secret.
 */
function foreignTo(
  { app }: StoredConnection,
  provider: Provider,
  read: ReadDelivery,
  reading: Reading,
): 'other-installation' | 'not-installed' | null {
  if (app === undefined || app === null || reading.kind === 'ignored' || reading.kind === 'challenge') return null;
  const account = attempt(() => provider.tenant.account(read)) ?? null;
  const isProved = app.state === 'installed' || app.state === 'suspended';
  if (reading.kind === 'lifecycle')
    return isProved && account !== null && account !== app.installationId ? 'other-installation' : null;
  if (app.state !== 'installed') return 'not-installed';
  return account === app.installationId ? null : 'other-installation';
}

/** Deliveries without an effect whatever the provider says: no request is made. */
const SILENT: ReadonlySet<string> = new Set([
  'connection-disabled',
  'organization-closing',
  'same-deed',
  'thread-muted',
]);

/**
 * Whether a delivery says something that its signature does not cover, so that its provider is to be asked before
 * anything comes of it.
 */
export function needsRereading(
  provider: Provider | undefined,
  { signature }: StoredDelivery,
  { reading, decision }: Examined,
): boolean {
  if (provider?.rereading?.signatures.includes(signature) !== true || reading.kind !== 'intent') return false;
  return decision.state === 'act' || !SILENT.has(decision.code);
}

/** A delivery that its provider does not confirm. Nothing of it is trusted, not even its actor. */
export function unconfirmed(detail: string): Examined {
  return {
    reading: { kind: 'ignored', reason: 'unreadable', detail },
    decision: { state: 'refused', code: 'not-confirmed', detail },
    standing: null,
  };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function nothing(reading: Exclude<Reading, { kind: 'intent' }>): Examined {
  const decision = withoutIntent(reading);
  if (decision === null) throw new Error('a reading that is no intent asks for something');
  return { reading, decision, standing: null };
}

/** A provider never throws; one that does has not read it. */
function safely(read: () => Reading): Reading {
  try {
    return read();
  } catch (error) {
    return {
      kind: 'ignored',
      reason: 'unreadable',
      detail: error instanceof Error ? error.message.slice(0, 200) : 'the provider failed',
    };
  }
}
