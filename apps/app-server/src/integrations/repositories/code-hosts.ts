import { Inject, Injectable } from '@nestjs/common';
import { MAX_CONNECTIONS } from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import {
  baseUrlOf,
  type CodeHost,
  type PageOf,
  type Permission,
  type Provider,
  ProviderRefusal,
  type RepositoryListing,
} from '@slipway/integrations';
import { ConnectionCredentials, type Credential, type CredentialNeed } from '@slipway/integrations/credentials';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import type { ConnectionRow } from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import { HeldAnswers } from './held-answers.js';
import { connectionsFor, type Identity, type Reach } from './repositories.queries.js';

/** Cache time of a list of names. Milliseconds: used while a user types. */
const NAMES_MS = 20_000;
/** How long a right is believed. Milliseconds, as in the worker. */
const RIGHTS_MS = 60_000;
/** Repositories of one connection that are listed; with more, the host searches a part of a name, or a whole name. */
const MAX_NAMES = 1_000;
/** Longest for all pages of one connection. Milliseconds; what has come until then is what there is. */
const NAMES_WAIT_MS = 10_000;

/** Lists of up to 1,500 names that are held at once. */
const MAX_HELD_LISTS = 50;

export type Access = Exclude<Permission['access'], 'none'>;

export interface Names {
  readonly items: readonly RepositoryListing[];
  /** There are no others. */
  readonly complete: boolean;
}

/** A git host, as one user of the organization is known there. */
export interface ReachedHost {
  readonly row: ConnectionRow;
  readonly provider: Provider;
  readonly baseUrl: string;
  readonly host: CodeHost;
  /** The same, with what reading one repository takes where a credential is narrowed. @throws ProviderRefusal */
  readonly hostAt: (repository: string) => Promise<CodeHost>;
  readonly identity: Identity;
  /** Of the connection and its token: answers by another token are others. */
  readonly key: string;
}

/** Why a connection's host is not asked. */
export interface UnreachedHost {
  readonly row: ConnectionRow;
  readonly provider: Provider | undefined;
  readonly why: 'unsupported' | 'no-token' | 'link-needed' | 'no-oauth-client';
}

/**
 * Asks the git hosts of an organization with the tokens of its connections, on behalf of users who have linked their
 * accounts. A user learns what they may read there, and nothing else.
 */
@Injectable()
export class CodeHosts {
  private readonly names: HeldAnswers<Names>;
  private readonly found: HeldAnswers<RepositoryListing | null>;
  private readonly rights: HeldAnswers<Access | null>;
  private readonly branchPages: HeldAnswers<PageOf<string>>;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly credentials: ConnectionCredentials,
    private readonly calls: ProviderCalls,
  ) {
    const now = (): number => this.clock.now().getTime();
    this.names = new HeldAnswers(NAMES_MS, MAX_HELD_LISTS, now);
    this.found = new HeldAnswers(NAMES_MS, 2_000, now);
    this.rights = new HeldAnswers(RIGHTS_MS, 20_000, now);
    this.branchPages = new HeldAnswers(NAMES_MS, 2_000, now);
  }

  /** Connections of the organization that could have repositories. @throws SlipwayError `secret.unreadable` */
  async of({ orgId, actor }: Principal): Promise<Array<ReachedHost | UnreachedHost>> {
    const reaches = await inOrg(this.pool, orgId, (client) => connectionsFor(client, orgId, actor.id, MAX_CONNECTIONS));
    const code = reaches.filter(({ row }) => this.providers.get(row.provider)?.does.includes('code') ?? false);
    return Promise.all(code.map((reach) => this.reached(orgId, reach)));
  }

  /**
   * Repositories whose rights the token may read, as far as they are listed; with `query` also what the host finds by
   * it. @throws ProviderRefusal
   */
  async namesOf(reached: ReachedHost, query: string): Promise<Names> {
    const all = await this.names.get(reached.key, () => this.listed(reached.host));
    if (all.complete || query === '') return all;
    const more = await this.names.get(`${reached.key} ${query}`, async () => {
      const { items, next } = await reached.host.repositories(null, query);
      return { items, complete: next === null };
    });
    const known = new Set(all.items.map(({ id }) => id));
    return { items: [...all.items, ...more.items.filter(({ id }) => !known.has(id))], complete: false };
  }

  /** `null`: the token reaches none of this name. @throws ProviderRefusal */
  find({ host, key }: ReachedHost, fullName: string): Promise<RepositoryListing | null> {
    return this.found.get(`${key} ${fullName.toLowerCase()}`, () =>
      host.repository(fullName).catch(noneIf('missing', 'forbidden')),
    );
  }

  /**
   * What the user may do there now, by the host's word about that very account. `null`: nothing, or the host does not
   * say. @throws ProviderRefusal
   */
  accessTo({ host, identity, key }: ReachedHost, fullName: string): Promise<Access | null> {
    const { login, externalUserId } = identity;
    return this.rights.get(JSON.stringify([key, fullName, login, externalUserId]), async () => {
      const permission = await host
        .permissionOf(fullName, { id: externalUserId, login })
        .catch(noneIf('missing', 'forbidden'));
      if (permission === null || permission.userId !== externalUserId || permission.access === 'none') return null;
      return permission.access;
    });
  }

  /** @throws ProviderRefusal */
  branches({ hostAt, key }: ReachedHost, fullName: string, page: string | null): Promise<PageOf<string>> {
    return this.branchPages.get(JSON.stringify([key, fullName, page]), async () =>
      (await hostAt(fullName)).branches(fullName, page),
    );
  }

  private async listed(host: CodeHost): Promise<Names> {
    const until = this.clock.now().getTime() + NAMES_WAIT_MS;
    const items: RepositoryListing[] = [];
    let page: string | null = null;
    let looked = 0;
    do {
      const listed: PageOf<RepositoryListing> = await host.repositories(page);
      items.push(...listed.items);
      page = listed.next;
      looked += Math.max(listed.items.length, PAGE_AT_LEAST);
    } while (page !== null && looked < MAX_NAMES && this.clock.now().getTime() < until);
    return { items, complete: page === null };
  }

  private async reached(
    orgId: string,
    { row, credential: stored, identity }: Reach,
  ): Promise<ReachedHost | UnreachedHost> {
    const provider = this.providers.get(row.provider);
    const access = provider?.codeHost;
    if (provider === undefined || access === undefined) return { row, provider, why: 'unsupported' };
    if (stored === null) return { row, provider, why: 'no-token' };
    if (identity === null)
      return { row, provider, why: row.oauth_client_set_at === null ? 'no-oauth-client' : 'link-needed' };
    const baseUrl = baseUrlOf(row);
    const hostWith = async (need: CredentialNeed): Promise<CodeHost> => {
      const credential = await this.credentials.of(orgId, row, stored, need);
      const other = (): Promise<Credential | null> =>
        this.credentials.credential(orgId, row, { ...need, refused: credential.id });
      return access.calls(
        this.calls.clientOf(access.apiUrl(credential.baseUrl ?? baseUrl), access.authorization, credential, other),
      );
    };
    // A credential that is not to be had now is what each call then says: the other connections are listed all the
    // same.
    const host = await hostWith({}).catch((error: unknown) => {
      if (error instanceof ProviderRefusal) return refusing(error);
      throw error;
    });
    return {
      row,
      provider,
      baseUrl,
      host,
      hostAt: (repository) => hostWith({ repository }),
      identity,
      key: `${row.id} ${stored.id} ${baseUrl}`,
    };
  }
}

/** What a page counts as that has fewer of ours: it was asked for all the same. */
const PAGE_AT_LEAST = 50;

/** A git host of which every call fails like this. */
function refusing(refusal: ProviderRefusal): CodeHost {
  return new Proxy({} as CodeHost, { get: () => () => Promise.reject(refusal) });
}

function noneIf(...kinds: readonly ProviderRefusal['kind'][]): (error: unknown) => null {
  return (error) => {
    if (error instanceof ProviderRefusal && kinds.includes(error.kind)) return null;
    throw error;
  };
}
