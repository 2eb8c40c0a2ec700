import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type ListBranchesQuery,
  type ListRepositoriesQuery,
  type Repository,
  type RepositoryBranchPage,
  type RepositoryPage,
  RepositoryPath,
} from '@slipway/contracts/repositories';
import type { Clock } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { RepositoryListing } from '@slipway/integrations';
import { CLOCK } from '../../platform/tokens.js';
import { ProviderCalls } from '../provider-calls.js';
import { CodeHosts, type Names, type ReachedHost, type UnreachedHost } from './code-hosts.js';
import { listedConnection, whyUnreached } from './listed-connection.js';
import { branchCursor, placeCursor, readBranchCursor, readPlaceCursor } from './repository-cursor.js';

/** Rights that one request asks about at most, and how many at once. */
const MAX_ASKED = 60;
const AT_ONCE = 6;
/** After this no further right is asked about; the page ends there. Milliseconds. */
const ASK_MS = 10_000;
/** Pages of branches read by one request. */
const MAX_BRANCH_PAGES = 10;

interface Candidate {
  readonly reached: ReachedHost;
  readonly repository: RepositoryListing;
  readonly place: string;
}

/** Repositories that a user may read at the providers of an organization's connections, and their branches. */
@Injectable()
export class RepositoriesService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly hosts: CodeHosts,
    private readonly calls: ProviderCalls,
  ) {}

  /**
   * A provider that fails is named in `connections`, and the others are listed. @throws SlipwayError
   * `resource.not-found` for a connection that is none; `request.invalid` for a cursor.
   */
  async list(
    caller: Principal,
    { query = '', connection, limit, cursor }: ListRepositoriesQuery,
  ): Promise<RepositoryPage> {
    const after = cursor === undefined ? null : readPlaceCursor(cursor);
    const hosts = (await this.hosts.of(caller)).filter(({ row }) => connection === undefined || row.id === connection);
    if (connection !== undefined && hosts.length === 0) throw notFound();
    const problems = new Map<string, SlipwayError>();
    const names = new Map<string, Names>();
    const reached = hosts.filter((each): each is ReachedHost => !('why' in each));
    await Promise.all(
      reached.map(async (each) => {
        try {
          names.set(each.row.id, await this.namesOf(each, query));
        } catch (error) {
          problems.set(each.row.id, this.problem(error, each));
        }
      }),
    );
    const candidates = reached
      .flatMap((each) =>
        (names.get(each.row.id)?.items ?? []).map((repository) => ({
          reached: each,
          repository,
          place: placeOf(each, repository),
        })),
      )
      .filter(
        ({ repository, place }) =>
          repository.fullName.toLowerCase().includes(query.toLowerCase()) && (after === null || place > after),
      )
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    const { data, last } = await this.readable(candidates, limit, problems);
    return {
      data,
      connections: hosts.map((each) =>
        listedConnection(each, { problem: problems.get(each.row.id), note: tooMany(each, names.get(each.row.id)) }),
      ),
      page: { nextCursor: last === null ? null : placeCursor(last) },
    };
  }

  /**
   * @throws SlipwayError `resource.not-found` for a connection that is none; `repository.not-connected`,
   * `linked-account.needed`, `repository.unknown`; `integration.provider-away`, `…refused`.
   */
  async branches(
    caller: Principal,
    { connection, repository, query = '', limit, cursor }: ListBranchesQuery,
  ): Promise<RepositoryBranchPage> {
    const from = cursor === undefined ? { page: null, index: 0 } : readBranchCursor(cursor);
    const host = (await this.hosts.of(caller)).find(({ row }) => row.id === connection);
    if (host === undefined) throw notFound();
    const reached = reachedOr(host);
    try {
      if ((await this.hosts.accessTo(reached, repository)) === null) throw unknownRepository(repository);
      const data: Array<{ name: string }> = [];
      let at: { page: string | null; index: number } | null = from;
      for (let looked = 0; at !== null && looked < MAX_BRANCH_PAGES && data.length < limit; looked += 1) {
        const { page, index }: { page: string | null; index: number } = at;
        const { items, next } = await this.hosts.branches(reached, repository, page);
        at = next === null ? null : { page: next, index: 0 };
        for (const [offset, name] of items.entries()) {
          if (offset < index || !name.toLowerCase().includes(query.toLowerCase())) continue;
          if (data.length === limit) {
            at = { page, index: offset };
            break;
          }
          data.push({ name });
        }
      }
      return { data, page: { nextCursor: at === null ? null : branchCursor(at) } };
    } catch (error) {
      throw this.calls.problem(error, reached.row.host);
    }
  }

  /**
   * Those that match part of a name, and one that has just this name, wherever it stands in a list that is too long.
   */
  private async namesOf(reached: ReachedHost, query: string): Promise<Names> {
    const names = await this.hosts.namesOf(reached, query);
    if (
      !RepositoryPath.safeParse(query).success ||
      names.items.some(({ fullName }) => fullName.toLowerCase() === query.toLowerCase())
    )
      return names;
    const named = await this.hosts.find(reached, query).catch(() => null);
    return named === null || names.items.some(({ id }) => id === named.id)
      ? names
      : { ...names, items: [...names.items, named] };
  }

  /**
   * The first of those that the user may read. @returns the position of the last one checked; `null`: there is no
   * other.
   */
  private async readable(
    candidates: readonly Candidate[],
    limit: number,
    problems: Map<string, SlipwayError>,
  ): Promise<{ data: Repository[]; last: string | null }> {
    const until = this.clock.now().getTime() + ASK_MS;
    const data: Repository[] = [];
    let at = 0;
    while (at < candidates.length && at < MAX_ASKED && data.length < limit && this.clock.now().getTime() < until) {
      const some = candidates.slice(at, at + Math.min(AT_ONCE, limit - data.length));
      const asked = await Promise.all(some.map((each) => this.asked(each, problems)));
      data.push(...asked.filter((each) => each !== null));
      at += some.length;
    }
    return { data, last: at < candidates.length ? (candidates[at - 1]?.place ?? null) : null };
  }

  private async asked(
    { reached, repository }: Candidate,
    problems: Map<string, SlipwayError>,
  ): Promise<Repository | null> {
    if (problems.has(reached.row.id)) return null;
    try {
      const access = await this.hosts.accessTo(reached, repository.fullName);
      return access === null ? null : toRepository(reached, repository, access);
    } catch (error) {
      problems.set(reached.row.id, this.problem(error, reached));
      return null;
    }
  }

  private problem(error: unknown, { row }: ReachedHost): SlipwayError {
    const problem = this.calls.problem(error, row.host);
    if (problem instanceof SlipwayError) return problem;
    throw problem;
  }
}

/** @throws SlipwayError `repository.not-connected`, `linked-account.needed`. */
export function reachedOr(host: ReachedHost | UnreachedHost): ReachedHost {
  if (!('why' in host)) return host;
  if (host.why === 'unsupported' || host.why === 'no-token')
    throw new SlipwayError('repository.not-connected', whyUnreached(host));
  throw new SlipwayError('linked-account.needed', whyUnreached(host));
}

export function unknownRepository(name: string): SlipwayError {
  return new SlipwayError(
    'repository.unknown',
    `No connection reaches a repository ${name} that your linked account may read.`,
  );
}

function toRepository(
  { row, provider, baseUrl }: ReachedHost,
  repository: RepositoryListing,
  access: Repository['access'],
): Repository {
  const { fullName, defaultBranch } = repository;
  return {
    reference: `${provider.id}:${fullName}`,
    connectionId: row.id,
    provider: provider.id,
    fullName,
    url: `${baseUrl}/${fullName}`,
    defaultBranch,
    private: repository.private,
    access,
  };
}

const placeOf = ({ row }: ReachedHost, { fullName }: RepositoryListing): string =>
  `${fullName.toLowerCase()} ${row.id}`;

function tooMany({ row }: ReachedHost | UnreachedHost, names: Names | undefined): string | undefined {
  return names?.complete === false
    ? `${row.host} has more repositories than are searched. Write owner/name in full.`
    : undefined;
}
