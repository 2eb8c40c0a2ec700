import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PrincipalService, readCookie, type SignedIn } from '@slipway/auth';
import {
  type BeginLink,
  LINK_MINUTES,
  LINKED_ACCOUNTS_PAGE,
  type LinkBegun,
  type LinkedAccount,
  type LinkedAccountList,
} from '@slipway/contracts/identity';
import { type Principal } from '@slipway/contracts/organizations';
import type { ApprovePullRequest } from '@slipway/contracts/repositories';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { isUniqueViolation } from '@slipway/db/store';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { authorizeUrl, type Redeemed, redeemForAccount } from '@slipway/integrations';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { ProviderCalls } from '../provider-calls.js';
import { ApprovalsService, type WantedApproval } from './approvals.service.js';
import { challengeOf, hashOf, isNonce, makeProof, nonceCookie, verifierOf } from './link-proof.js';
import {
  type ConfirmableRequest,
  deleteLink,
  deleteRequest,
  insertLink,
  insertRequest,
  type LinkRow,
  linkableConnections,
  linksOf,
  lockHolders,
  type NewLinkRequest,
  nameAccount,
  signInHolder,
  type TakenRequest,
  takeConfirmable,
  takeRequest,
} from './linked-accounts.queries.js';
import { OAuthClientService } from './oauth-client.service.js';

const LINK_MS = LINK_MINUTES * 60_000;
/** Attempts of one user in one organization that are open at once, beside the one that begins. */
const MAX_OPEN = 4;
/** A token and an account are short. Bytes. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Where the browser goes to consent, and the cookie that only it has. */
interface Begun {
  readonly begun: LinkBegun;
  readonly cookie: string;
}

/** Where a browser that came back goes on. */
interface CameBack {
  readonly page: string;
  readonly query: Readonly<Record<string, string>>;
  readonly cookie: string;
  /** Why an approval was not made. */
  readonly problem: SlipwayError | null;
}

/** What the provider has sent the browser back with. */
export interface ComeBack {
  readonly state?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
}

/**
 * Links of users to their accounts at providers. A link is begun, comes back and is confirmed in one browser session:
 * its state is random, hashed, taken once, and of ten minutes; the browser's nonce must come back with it. The user's
 * token is used to ask who they are, and not kept.
 */
@Injectable()
export class LinkedAccountsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly principals: PrincipalService,
    private readonly clients: OAuthClientService,
    private readonly calls: ProviderCalls,
    private readonly approvals: ApprovalsService,
  ) {}

  async list(user: SignedIn): Promise<LinkedAccountList> {
    const [links, linkable] = await Promise.all([this.links(user), linkableConnections(this.pool, user.userId)]);
    const able = linkable.filter(({ provider }) => this.clients.links(provider));
    return {
      data: links.map((row) => this.toLink(row)),
      linkable: able.map(({ connection_id, org_id, org_name, name, provider, host }) => ({
        connectionId: connection_id,
        orgId: org_id,
        orgName: org_name,
        name,
        provider,
        providerName: this.clients.nameOf(provider),
        host,
      })),
    };
  }

  /**
   * @throws SlipwayError `resource.not-found` for an organization or a connection that is not the user's;
   * `integration.oauth-unsupported`, `integration.no-oauth-client`.
   */
  async begin(user: SignedIn, { org, connectionId }: BeginLink): Promise<Begun> {
    const { orgId } = await this.principalIn(user, org);
    return this.beginAt(orgId, user, connectionId, null);
  }

  /**
   * Begins an approval: the user consents to it at the git host, and what they come back with is used for it alone.
   * @throws SlipwayError as `ApprovalsService.begin`; `integration.oauth-unsupported`, `integration.no-oauth-client`.
   */
  async beginApproval(
    caller: Principal,
    user: SignedIn,
    { conversation, number }: { readonly conversation: string; readonly number: string },
    { headSha }: ApprovePullRequest,
  ): Promise<Begun> {
    const { pull } = await this.approvals.begin(caller, conversation, number, headSha);
    if (pull.connectionId === null)
      throw new SlipwayError('pull-request.no-connection', 'The connection that it was opened by is deleted.');
    return this.beginAt(caller.orgId, user, pull.connectionId, { pullRequestId: pull.id, headSha });
  }

  private async beginAt(
    orgId: string,
    user: SignedIn,
    connectionId: string,
    approval: NewLinkRequest['approval'],
  ): Promise<Begun> {
    const { connection, linking, app, baseUrl, redirectUri } = await this.clients.forLinking(orgId, connectionId);
    if (approval !== null && linking.approval === undefined)
      throw new SlipwayError('integration.oauth-unsupported', `Slipway cannot approve at ${connection.host} yet.`);
    const now = this.clock.now();
    const proof = makeProof(randomBytes);
    const expiresAt = new Date(now.getTime() + LINK_MS);
    const { userId, sessionId } = user;
    const { provider, host } = connection;
    const hashes = { stateHash: hashOf(proof.state), nonceHash: hashOf(proof.nonce) };
    const made = { id: randomUUID(), userId, sessionId, connectionId, provider, host, ...hashes, expiresAt, approval };
    await inOrg(this.pool, orgId, (client) => insertRequest(client, orgId, made, { keep: MAX_OPEN, now }));
    const scopes = approval === null ? undefined : linking.approval?.scopes;
    const challenge = challengeOf(proof);
    const asked = { baseUrl, clientId: app.clientId, redirectUri, state: proof.state, challenge, scopes };
    return {
      begun: { authorizeUrl: authorizeUrl(linking, asked), expiresAt: expiresAt.toISOString() },
      cookie: nonceCookie(proof.state, this.config.PUBLIC_URL).set(proof.nonce, LINK_MS / 1000),
    };
  }

  /**
   * Takes who the provider says it is; nothing is linked yet. An approval that was begun is made. The state is used up,
   * whoever brings it.
   * @param connectionId of the address that the browser came back to.
   * @returns where the browser goes on: with the id to confirm, or with what became of an approval.
   * @throws SlipwayError `linked-account.refused` for a state that is unknown, over, used, or of another session,
   * browser or connection; `linked-account.declined`; `integration.provider-away`, `integration.provider-refused`; as
   * `begin`.
   */
  async comeBack(
    user: SignedIn,
    connectionId: string,
    { state, code, error }: ComeBack,
    cookieHeader: string | undefined,
  ): Promise<CameBack> {
    if (typeof state !== 'string' || state === '' || state.length > 200) throw refused();
    const request = await takeRequest(this.pool, hashOf(state), this.clock.now());
    const cookie = nonceCookie(state, this.config.PUBLIC_URL);
    const nonce = readCookie(cookieHeader, cookie.name);
    if (
      request === null ||
      request.session_id !== user.sessionId ||
      request.user_id !== user.userId ||
      nonce === undefined
    )
      throw refused();
    // Sent back from another provider than the one that the link was begun with: its code is not that one's to have.
    if (request.connection_id !== connectionId) throw refused();
    if (!isNonce(nonce, request.nonce_hash)) throw refused();
    const principal = await this.principalIn(user, request.org_id);
    const back = { state, nonce, code, error };
    const ended = cookie.set('', 0);
    const wanted = await this.approvals.of(principal.orgId, request.id);
    if (wanted === null) {
      const { account } = await this.redeem(principal, request, back);
      const expiresAt = new Date(this.clock.now().getTime() + LINK_MS);
      await inOrg(this.pool, principal.orgId, (client) =>
        nameAccount(client, principal.orgId, request.id, { account, expiresAt }),
      );
      return { page: LINKED_ACCOUNTS_PAGE, query: { confirm: request.id }, cookie: ended, problem: null };
    }
    const page = reviewPage(user, principal.orgId, wanted.pull.conversationId);
    try {
      await this.redeem(principal, request, back, wanted);
      return { page, query: { approved: String(wanted.pull.number) }, cookie: ended, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof SlipwayError)) throw thrown;
      return { page, query: { problem: thrown.code }, cookie: ended, problem: thrown };
    }
  }

  /** Who consented; with `wanted`, their approval is made before the token ends. */
  private async redeem(
    principal: Principal,
    request: TakenRequest,
    back: ComeBack & { readonly state: string; readonly nonce: string },
    wanted: WantedApproval | null = null,
  ): Promise<Redeemed> {
    const { state, nonce, code, error } = back;
    if (error !== undefined)
      throw new SlipwayError('linked-account.declined', 'The provider sent you back without its consent.');
    if (typeof code !== 'string' || code === '' || code.length > 4_096) throw refused();
    const { linking, app, baseUrl, redirectUri, connection } = await this.clients.forLinking(
      principal.orgId,
      request.connection_id,
    );
    const { approval } = linking;
    const redeemed = await redeemForAccount(
      linking,
      { baseUrl, app, code, redirectUri, verifier: verifierOf({ state, nonce }), workspace: connection.account },
      (url, authorization) => this.calls.client(url, authorization, { maxAnswerBytes: MAX_ANSWER_BYTES }),
      wanted === null || approval === undefined
        ? undefined
        : (account, api) => this.approvals.approve(principal, wanted, { account, api, approval }),
    ).catch((thrown: unknown) => Promise.reject(this.calls.problem(thrown, connection.host)));
    const { notRevoked } = redeemed;
    if (notRevoked !== null)
      this.logger.warn(
        { provider: connection.provider, host: connection.host, kind: notRevoked.kind, status: notRevoked.status },
        'failed to revoke the token of a link',
      );
    return redeemed;
  }

  /**
   * No-op for one that is linked already. A former member's link is replaced.
   * @throws SlipwayError `resource.not-found` without a pending link in this session; `linked-account.taken`,
   * `linked-account.exists`.
   */
  async confirm(user: SignedIn, id: string): Promise<LinkedAccount> {
    const row = await this.find(user, id);
    if (row.linked_at !== null) return this.toLink(row);
    const principal = await this.principalIn(user, row.org_id);
    await inOrg(this.pool, principal.orgId, async (client) => {
      const request = await takeConfirmable(client, principal.orgId, id, { by: user, now: this.clock.now() });
      // Confirmed by another request of this moment, or given up: what is there now is answered below.
      if (request !== null) await this.link(client, principal, id, request);
    }).catch((error: unknown) => Promise.reject(isUniqueViolation(error) ? taken() : error));
    return this.toLink(await this.find(user, id));
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(user: SignedIn, id: string): Promise<void> {
    const row = await this.find(user, id);
    const { org_id: orgId, provider, host, login, external_user_id: externalUserId } = row;
    await inOrg(this.pool, orgId, async (client) => {
      if (row.linked_at === null) return deleteRequest(client, orgId, id);
      if (!(await deleteLink(client, orgId, id))) return;
      const by = { orgId, actor: { kind: 'user' as const, id: user.userId, label: user.name } };
      await client.query(
        auditOf(this.ids.uuid(), by, {
          action: 'linked-account.delete',
          target: id,
          detail: { provider, host, login, externalUserId },
        }),
      );
    });
  }

  private async link(client: PoolClient, principal: Principal, id: string, request: ConfirmableRequest): Promise<void> {
    const { orgId, actor } = principal;
    const { provider, host, login, external_user_id: externalUserId } = request;
    const bySignIn = await signInHolder(client, request);
    if (bySignIn !== null && bySignIn !== actor.id) throw taken();
    for (const holder of await lockHolders(client, orgId, request, actor.id)) {
      if (holder.userId !== actor.id && holder.member) throw taken();
      if (holder.userId === actor.id && holder.externalUserId !== externalUserId)
        throw new SlipwayError('linked-account.exists', `Your account here is linked with ${holder.login} at ${host}.`);
      await deleteLink(client, orgId, holder.id);
      if (holder.userId === actor.id) continue;
      const detail = {
        provider,
        host,
        login: holder.login,
        externalUserId: holder.externalUserId,
        userId: holder.userId,
        reason: 'no member any more',
      };
      await client.query(
        auditOf(this.ids.uuid(), principal, { action: 'linked-account.delete', target: holder.id, detail }),
      );
    }
    await insertLink(client, orgId, { id, userId: actor.id, of: request, now: this.clock.now() });
    const detail = { provider, host, login, externalUserId };
    await client.query(auditOf(this.ids.uuid(), principal, { action: 'linked-account.create', target: id, detail }));
  }

  private async principalIn(user: SignedIn, org: string): Promise<Principal> {
    return this.principals.principalOf(await this.principals.upToDate({ kind: 'session', user }, org), org);
  }

  private links({ userId, sessionId }: SignedIn): Promise<LinkRow[]> {
    return linksOf(this.pool, userId, sessionId, this.clock.now());
  }

  private async find(user: SignedIn, id: string): Promise<LinkRow> {
    const row = (await this.links(user)).find((each) => each.id === id);
    if (row === undefined) throw notFound();
    return row;
  }

  private toLink(row: LinkRow): LinkedAccount {
    return {
      id: row.id,
      state: row.linked_at === null ? 'pending' : 'linked',
      orgId: row.org_id,
      orgName: row.org_name,
      provider: row.provider,
      providerName: this.clients.nameOf(row.provider),
      host: row.host,
      externalUserId: row.external_user_id,
      login: row.login,
      linkedAt: row.linked_at?.toISOString() ?? null,
      expiresAt: row.expires_at?.toISOString() ?? null,
    };
  }
}

/** Of a conversation; for a user outside of its organization, their own. */
function reviewPage({ orgs }: SignedIn, orgId: string, conversationId: string): string {
  const org = orgs.find(({ id }) => id === orgId);
  return org === undefined ? LINKED_ACCOUNTS_PAGE : `/${org.slug}/conversations/${conversationId}/review`;
}

function refused(): SlipwayError {
  return new SlipwayError(
    'linked-account.refused',
    'This link was not begun in this browser and session, was used already, or took longer than ten minutes.',
  );
}

function taken(): SlipwayError {
  return new SlipwayError('linked-account.taken', 'Another user of the organization has linked this account.');
}
