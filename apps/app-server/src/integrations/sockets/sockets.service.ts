import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { AdvisoryLocks, type HeldLock, PostgresSession, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { baseUrlOf, type Provider, type SocketAccess } from '@slipway/integrations';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import type { Intake } from '../intake/intake.service.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import { SocketSession } from './socket-session.js';
import { noteReady, noteRefused, type SocketConnection, socketConnections } from './sockets.queries.js';

/**
 * Poll interval for connections without a socket. Milliseconds; a dead replica's are taken over within it plus
 * Postgres' own timeout.
 */
const EVERY_MS = 3_000;
const PAUSES = { first: 1_000, longest: 60_000 } as const;
/** The provider gives up what is not acknowledged after 3 s. Milliseconds. */
const OPEN_MS = 10_000;
const REFUSED =
  'The provider opens no socket with the app-level token: it was revoked, or Socket Mode was switched off there.';

interface Held {
  readonly secretId: string;
  readonly lock: HeldLock;
  readonly session: SocketSession;
}

/**
 * Sockets to providers that deliver by them, one for each connection over all replicas: held by the owner of its
 * advisory lock, which ends with the process. What a socket brings goes into the same intake as a webhook, without a
 * signature: the socket authenticates it.
 */
@Injectable()
export class SocketsService {
  private readonly held = new Map<string, Held>();
  private readonly kinds: readonly string[];
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private closed = false;
  private locks: AdvisoryLocks | null = null;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly calls: ProviderCalls,
  ) {
    this.kinds = [...providers.values()].flatMap(({ id, sockets }) =>
      sockets === undefined ? [] : [`${id}/${sockets.kind}`],
    );
  }

  start(intake: Intake): void {
    if (this.kinds.length === 0) return;
    const next = (): void => {
      if (this.closed) return;
      this.timer = setTimeout(() => {
        this.running = this.round(intake)
          .catch((error: unknown) => this.logger.warn({ err: error }, 'provider sockets not checked, will retry'))
          .finally(next);
      }, EVERY_MS);
      this.timer.unref();
    };
    next();
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
    await Promise.all([...this.held.keys()].map((id) => this.leave(id)));
    await this.locks?.close();
  }

  private async round(intake: Intake): Promise<void> {
    const wanted = new Map((await socketConnections(this.pool, this.kinds)).map((each) => [each.id, each]));
    for (const [id, { secretId, lock }] of this.held)
      if (lock.signal.aborted || wanted.get(id)?.secret.id !== secretId) await this.leave(id);
    if (wanted.size === 0) return;
    // A connection of its own to Postgres, for as long as anybody here has sockets.
    this.locks ??= new AdvisoryLocks(
      new PostgresSession({
        url: this.config.DATABASE_URL,
        applicationName: 'app-server-sockets',
        onLost: (error) => this.logger.warn({ err: error }, 'lock connection lost, sockets released'),
      }),
    );
    for (const connection of wanted.values()) {
      if (this.closed || this.held.has(connection.id)) continue;
      const lock = await this.locks.tryLock(`integration-socket:${connection.id}`);
      if (lock !== null) await this.hold(connection, lock, intake);
    }
  }

  private async hold(connection: SocketConnection, lock: HeldLock, intake: Intake): Promise<void> {
    const { id, orgId, secret } = connection;
    const provider = this.providers.get(connection.provider);
    const access = provider?.sockets;
    if (provider === undefined || access === undefined) return lock.release();
    let token: string;
    try {
      token = await this.envelope.open(
        orgId,
        secret,
        integrationSecretContext({ id: secret.id, connectionId: id, kind: 'webhook' }),
      );
    } catch (error) {
      this.logger.error({ err: error, connection_id: id }, 'failed to decrypt the token of a socket');
      return lock.release();
    }
    const session = new SocketSession({
      connectionId: id,
      access,
      logger: this.logger,
      pauses: PAUSES,
      now: () => this.clock.now(),
      open: () => this.open(access, connection, token),
      onReady: () => noteReady(this.pool, connection, REFUSED),
      onRefused: () => noteRefused(this.pool, connection, REFUSED),
      onLost: (error) =>
        this.logger.warn({ err: error, connection_id: id }, 'socket delivery neither stored nor acknowledged'),
      deliver: async (body) => {
        // Without the lock another replica has the socket of this connection by now: what comes here comes there again.
        lock.signal.throwIfAborted();
        const taken = await intake.takeFromSocket(provider, connection, body);
        return taken.outcome === 'suggested' ? taken.answer : null;
      },
    });
    this.held.set(id, { secretId: secret.id, lock, session });
    lock.signal.addEventListener('abort', () => void this.leave(id, lock), { once: true });
    session.start();
  }

  private async open(
    access: SocketAccess,
    connection: SocketConnection,
    token: string,
  ): Promise<ReturnType<ProviderCalls['socket']>> {
    const client = this.calls.client(access.apiUrl(baseUrlOf(connection)), access.authorization(token), {
      timeoutMs: OPEN_MS,
    });
    return this.calls.socket(await access.open(client));
  }

  /** No-op where it is not held. @param lock by which it was held [whichever] */
  private async leave(id: string, lock?: HeldLock): Promise<void> {
    const held = this.held.get(id);
    if (held === undefined || (lock !== undefined && held.lock !== lock)) return;
    this.held.delete(id);
    await held.session.close();
    await held.lock.release();
  }
}
