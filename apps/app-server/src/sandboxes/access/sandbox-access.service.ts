import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { type Principal } from '@slipway/contracts/organizations';
import {
  ENTER_PATH,
  type GrantSandboxAccess,
  SANDBOX_PORTS,
  type SandboxAccess,
  type SandboxAccessList,
  sandboxPortOf,
} from '@slipway/contracts/sandboxes';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import type { WatchedCredential } from '../../log/events/access-watch.js';
import { CLOCK, CONFIG, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import {
  insertGrant,
  lockOwnAccess,
  type NewGrant,
  type OwnAccess,
  openGrants,
  ownGrant,
  renewTicket,
  revokeGrants,
} from './sandbox-access.queries.js';

/** A browser has this long to hand in its ticket. Milliseconds. */
const TICKET_MS = 30_000;
/** An access ends by itself after a working day. Milliseconds. */
const ACCESS_MS = 12 * 3_600_000;

interface Gateway {
  readonly tokens: SandboxTokens;
  readonly url: URL;
}

/**
 * Gives users access to the sandboxes of conversations that they may write in, and revokes it. Needs no sandbox to be
 * there: the gateway checks that at each request. Beside `revoke`, a grant ends with the sign-in or the API key that it
 * was made with, with the membership or the role of its user, with the conversation, and by its age; all of that is
 * read from the rows by sandbox-gateway, so that nothing here has to remember it.
 */
@Injectable()
export class SandboxAccessService {
  private readonly gateway: Gateway | null;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CONFIG) config: Config,
  ) {
    const { SANDBOX_ACCESS_SECRET: secret, SANDBOX_GATEWAY_URL: url } = config;
    this.gateway =
      secret === undefined || url === undefined ? null : { tokens: new SandboxTokens(secret), url: new URL(url) };
  }

  /** What holds at this moment, whoever has it. @throws SlipwayError `sandbox.no-gateway`, `resource.not-found` */
  async list(caller: Principal, conversation: string): Promise<SandboxAccessList> {
    const { url } = this.configured();
    const grants = await inOrg(this.pool, caller.orgId, (client) => openGrants(client, caller.orgId, conversation));
    if (grants === null) throw notFound();
    return {
      data: grants.map((grant) => ({
        id: grant.id,
        port: grant.port,
        url: `${originOf(url, grant.port, conversation)}/`,
        person: { id: grant.user_id, label: grant.label },
        createdAt: grant.created_at.toISOString(),
        endsAt: grant.expires_at.toISOString(),
      })),
    };
  }

  /**
   * Another access, or with `reuse` the one that the caller has already (`GrantSandboxAccess`): those who ask for that
   * at once get one.
   * @throws SlipwayError `sandbox.no-gateway`, `sandbox.port-closed`, `resource.not-found`
   */
  async grant(
    caller: Principal,
    proof: WatchedCredential,
    conversation: string,
    { port: wanted, reuse }: GrantSandboxAccess,
  ): Promise<SandboxAccess> {
    const gateway = this.configured();
    const port = sandboxPortOf(wanted);
    if (port === null)
      throw new SlipwayError(
        'sandbox.port-closed',
        `Port ${wanted} is below 1024 or belongs to the sandbox itself; every other up to 65535 can be reached.`,
      );
    const now = this.clock.now();
    const value = randomBytes(32).toString('base64url');
    const ticket = {
      ticketHash: createHash('sha256').update(value).digest(),
      ticketExpiresAt: new Date(now.getTime() + TICKET_MS),
    };
    const access = { ...holderOf(caller, proof), conversationId: conversation, port };
    const { id, endsAt } = await inOrg(this.pool, caller.orgId, async (client) => {
      const own = reuse ? await this.own(client, access) : null;
      if (own !== null && (await renewTicket(client, caller.orgId, own.id, ticket)))
        return { id: own.id, endsAt: own.expires_at };
      return this.add(client, caller, { ...access, ...ticket }, now);
    });
    const { token, expiresAt } = await gateway.tokens.sign(
      { jti: id, org: caller.orgId, sub: caller.actor.id, conversation, port },
      now,
      endsAt,
    );
    const url = originOf(gateway.url, port, conversation);
    return {
      id,
      port,
      url: `${url}/`,
      pathUrl: new URL(`/${conversation}/${port}/`, gateway.url).href,
      token,
      expiresAt: expiresAt.toISOString(),
      ticket: { value, url: `${url}${ENTER_PATH}`, expiresAt: ticket.ticketExpiresAt.toISOString() },
      endsAt: endsAt.toISOString(),
    };
  }

  /** Whether this installation lets anybody into sandboxes. */
  get isOffered(): boolean {
    return this.gateway !== null;
  }

  /**
   * The way to agent-server for a client that keeps one key, as OpenHands' do: it lasts as long as its access, and
   * asking again gives the same access.
   * @throws SlipwayError `sandbox.no-gateway`, `resource.not-found`
   */
  async session(
    caller: Principal,
    proof: WatchedCredential,
    conversation: string,
  ): Promise<{ url: string; port: number; token: string }> {
    const gateway = this.configured();
    const port = SANDBOX_PORTS['agent-server'];
    const now = this.clock.now();
    const access = { ...holderOf(caller, proof), conversationId: conversation, port };
    const { id, endsAt } = await inOrg(this.pool, caller.orgId, async (client) => {
      const own = await this.own(client, access);
      return own === null
        ? this.add(client, caller, { ...access, ticketHash: null, ticketExpiresAt: now }, now)
        : { id: own.id, endsAt: own.expires_at };
    });
    const { token } = await gateway.tokens.sign(
      { jti: id, org: caller.orgId, sub: caller.actor.id, conversation, port },
      now,
      endsAt,
      ACCESS_MS / 1_000,
    );
    return { url: originOf(gateway.url, port, conversation), port, token };
  }

  /**
   * Ends one access or, with `null`, all to this conversation; one that has ended already stays so. @throws
   * SlipwayError `resource.not-found`
   */
  async revoke(caller: Principal, conversation: string, access: string | null): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const ended = await revokeGrants(client, caller.orgId, conversation, access);
      if (ended === null) throw notFound();
      this.logger.info({ conversation_id: conversation, ended: ended.length }, 'sandbox.revoke');
      for (const id of ended)
        await client.query(
          auditOf(this.ids.uuid(), caller, { action: 'sandbox.revoke', target: `${conversation}:${id}` }),
        );
    });
  }

  private async own(client: PoolClient, access: OwnAccess): Promise<{ id: string; expires_at: Date } | null> {
    await lockOwnAccess(client, access);
    return ownGrant(client, access);
  }

  private async add(
    client: PoolClient,
    caller: Principal,
    grant: Omit<NewGrant, 'id' | 'expiresAt'>,
    now: Date,
  ): Promise<{ id: string; endsAt: Date }> {
    const id = this.ids.prefixed('sbx');
    const endsAt = new Date(now.getTime() + ACCESS_MS);
    if (!(await insertGrant(client, { ...grant, id, expiresAt: endsAt }))) throw notFound();
    await client.query(
      auditOf(this.ids.uuid(), caller, { action: 'sandbox.access', target: `${grant.conversationId}:${grant.port}` }),
    );
    return { id, endsAt };
  }

  private configured(): Gateway {
    if (this.gateway === null)
      throw new SlipwayError(
        'sandbox.no-gateway',
        'SANDBOX_GATEWAY_URL or SANDBOX_ACCESS_SECRET of app-server is not set.',
      );
    return this.gateway;
  }
}

/** The port's own origin: what runs there shares none with Slipway or with another port. */
function originOf({ protocol, host }: URL, port: number, conversation: string): string {
  return `${protocol}//${port}-${conversation}.${host}`;
}

/** The user, and the credential that the access ends with. */
function holderOf(
  caller: Principal,
  proof: WatchedCredential,
): { orgId: string; userId: string; sessionId: string | null; apiKeyId: string | null } {
  return {
    orgId: caller.orgId,
    userId: caller.actor.id,
    sessionId: proof.kind === 'session' ? proof.id : null,
    apiKeyId: proof.kind === 'api-key' ? proof.id : null,
  };
}
