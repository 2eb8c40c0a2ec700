import { randomBytes } from 'node:crypto';
import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Provider, SignatureScheme } from '@slipway/integrations';
import { findIntegration, findIntegrationOfAccount } from './intake.queries.js';

/**
 * How long what was found, or was not, is believed. Milliseconds: a secret that was replaced or a connection that was
 * deleted holds no longer than that.
 */
const FRESH_MS = 1_000;
/** Targets that are held of each kind; the oldest goes first. */
const MAX_HELD = 2_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Target that a delivery must be signed for, before it is read. */
export interface DeliveryTarget {
  /**
   * `platform`: found later, by the account in the signed body. `null`: there is none, and nothing that comes is
   * believed.
   */
  readonly connection: { readonly id: string; readonly orgId: string } | 'platform' | null;
  readonly scheme: SignatureScheme;
  /**
   * Never empty where nothing is believed: a signature is then compared all the same, so that the answer takes as long.
   */
  readonly secrets: readonly string[];
}

/** Finds the target of an address, at most once a second each. */
export class DeliveryTargets {
  private readonly known = new Map<string, { until: number; target: Promise<DeliveryTarget> }>();
  /** Apart, so that who makes ids up pushes nothing out. */
  private readonly unknown = new Map<string, { until: number; target: Promise<DeliveryTarget> }>();
  private readonly decoy = randomBytes(32).toString('base64');

  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    /** By provider: what signs for the platform's own app. */
    private readonly appSecrets: Readonly<Record<string, readonly string[]>>,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Of the platform's own app of a provider. */
  ofPlatform(provider: Provider): DeliveryTarget {
    const scheme = schemeOf(provider, provider.connections[0]?.signature);
    const secrets = this.appSecrets[provider.id] ?? [];
    return scheme === null || secrets.length === 0
      ? this.nobody(provider)
      : { connection: 'platform', scheme, secrets };
  }

  /** @throws SlipwayError `secret.unreadable`; what the database throws. */
  async of(provider: Provider, id: string): Promise<DeliveryTarget> {
    if (!UUID.test(id)) return this.nobody(provider);
    const key = `${provider.id} ${id}`;
    const now = this.monotonic();
    const held = this.known.get(key) ?? this.unknown.get(key);
    if (held !== undefined && held.until > now) return held.target;
    const target = this.find(provider, id);
    const entry = { until: now + FRESH_MS, target };
    // Not known to be there until it is found.
    hold(this.unknown, key, entry);
    try {
      const found = await target;
      if (found.connection !== null && this.unknown.get(key) === entry) {
        this.unknown.delete(key);
        hold(this.known, key, entry);
      }
      if (found.connection === null) this.known.delete(key);
      return found;
    } catch (error) {
      if (this.unknown.get(key) === entry) this.unknown.delete(key);
      throw error;
    }
  }

  /** The organization's connection that an account of the platform's app belongs to. */
  async ofAccount(provider: Provider, account: string): Promise<{ id: string; orgId: string } | null> {
    return provider.host === null ? null : findIntegrationOfAccount(this.pool, provider.id, provider.host, account);
  }

  private async find(provider: Provider, id: string): Promise<DeliveryTarget> {
    const found = await findIntegration(this.pool, id);
    const scheme = found?.provider === provider.id ? schemeOf(provider, found.signature) : null;
    if (found === null || scheme === null) return this.nobody(provider);
    const secrets = await Promise.all(
      found.secrets.map((secret) =>
        this.envelope
          .open(found.orgId, secret, integrationSecretContext({ id: secret.id, connectionId: id, kind: 'webhook' }))
          .catch((error: unknown) => {
            throw new SlipwayError('secret.unreadable', 'The webhook secret of the connection cannot be opened.', {
              cause: error,
            });
          }),
      ),
    );
    return { connection: { id, orgId: found.orgId }, scheme, secrets };
  }

  private nobody(provider: Provider): DeliveryTarget {
    const scheme = Object.values(provider.signatures)[0];
    if (scheme === undefined) throw new Error(`${provider.id} signs by nothing`);
    return { connection: null, scheme, secrets: [this.decoy] };
  }
}

function schemeOf(provider: Provider, name: string | undefined): SignatureScheme | null {
  return name !== undefined && Object.hasOwn(provider.signatures, name) ? (provider.signatures[name] ?? null) : null;
}

function hold<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_HELD) map.delete(map.keys().next().value as string);
}
