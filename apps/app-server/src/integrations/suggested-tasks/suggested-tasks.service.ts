import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { ListedConnection, SuggestedTask, SuggestedTasks } from '@slipway/contracts/repositories';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type OwnWork, type OwnWorkList, ProviderRefusal, type RepositoryListing } from '@slipway/integrations';
import { CLOCK } from '../../platform/tokens.js';
import { ProviderCalls } from '../provider-calls.js';
import { CodeHosts, type ReachedHost } from '../repositories/code-hosts.js';
import { HeldAnswers } from '../repositories/held-answers.js';
import { listedConnection } from '../repositories/listed-connection.js';
import { suggestedPrompt } from './suggested-prompt.js';

/** How long an answer is believed. Milliseconds. */
const HELD_MS = 60_000;
const MAX_HELD = 2_000;
/** For all that one host is asked. Milliseconds. */
const WAIT_MS = 15_000;
/** Repositories of one host whose rights are read, and that are searched. */
const MAX_RIGHTS = 24;
const MAX_REPOSITORIES = 8;
/** Tasks of one host, and how many rights are asked at once. */
const MAX_TASKS = 30;
const AT_ONCE = 6;

const KINDS = {
  'red-default-branch': 'RED_DEFAULT_BRANCH',
  conflicts: 'MERGE_CONFLICTS',
  'failing-checks': 'FAILING_CHECKS',
  'unresolved-comments': 'UNRESOLVED_COMMENTS',
  issue: 'OPEN_ISSUE',
} as const satisfies Record<OwnWork['kind'], SuggestedTask['kind']>;
const ORDER = Object.keys(KINDS);

/**
 * Tasks that wait for a user at the git hosts of their organization. A host that fails is named, and the others are
 * listed.
 */
@Injectable()
export class SuggestedTasksService {
  private readonly held: HeldAnswers<OwnWorkList>;

  constructor(
    @Inject(CLOCK) clock: Clock,
    private readonly hosts: CodeHosts,
    private readonly calls: ProviderCalls,
  ) {
    this.held = new HeldAnswers(HELD_MS, MAX_HELD, () => clock.now().getTime());
  }

  async list(caller: Principal): Promise<SuggestedTasks> {
    const hosts = await this.hosts.of(caller);
    const found = await Promise.all(
      hosts.map((host) => ('why' in host ? { tasks: [], connection: listedConnection(host, {}) } : this.of(host))),
    );
    return { data: found.flatMap(({ tasks }) => tasks), connections: found.map(({ connection }) => connection) };
  }

  private async of(reached: ReachedHost): Promise<{ tasks: SuggestedTask[]; connection: ListedConnection }> {
    if (reached.host.ownWork === undefined)
      return {
        tasks: [],
        connection: {
          ...listedConnection(reached, {}),
          state: 'unsupported',
          text: `Slipway suggests no tasks from ${reached.provider.name} yet.`,
        },
      };
    try {
      const { login, externalUserId } = reached.identity;
      const { items, more } = await this.held.get(JSON.stringify([reached.key, login, externalUserId]), () =>
        within(this.ask(reached), WAIT_MS),
      );
      const note = more ? `Not all of ${reached.row.host} was searched.` : undefined;
      return { tasks: items.map((work) => toTask(reached, work)), connection: listedConnection(reached, { note }) };
    } catch (error) {
      const problem = this.calls.problem(error, reached.row.host);
      if (!(problem instanceof SlipwayError)) throw problem;
      return { tasks: [], connection: listedConnection(reached, { problem }) };
    }
  }

  private async ask(reached: ReachedHost): Promise<OwnWorkList> {
    const { externalUserId, login } = reached.identity;
    const { items: names, complete } = await this.hosts.namesOf(reached, '');
    const [writable, asked] = await this.writable(reached, names);
    const work = (await reached.host.ownWork?.({ id: externalUserId, login }, writable)) ?? { items: [], more: false };
    // What a host finds by the user may be where its account only reads.
    const known = new Set(writable.map(({ fullName }) => fullName));
    const others = [...new Set(work.items.map(({ repository }) => repository))].filter((each) => !known.has(each));
    for (const name of others.slice(0, MAX_RIGHTS)) if (await this.mayWrite(reached, name)) known.add(name);
    const mine = work.items
      .filter(({ repository }) => known.has(repository))
      .sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
    const more =
      work.more || !complete || asked < names.length || others.length > MAX_RIGHTS || mine.length > MAX_TASKS;
    return { items: mine.slice(0, MAX_TASKS), more };
  }

  /** The first that the user may write to, and how many names were checked for them. */
  private async writable(
    reached: ReachedHost,
    names: readonly RepositoryListing[],
  ): Promise<readonly [readonly RepositoryListing[], number]> {
    const found: RepositoryListing[] = [];
    let at = 0;
    while (at < Math.min(names.length, MAX_RIGHTS) && found.length < MAX_REPOSITORIES) {
      const some = names.slice(at, at + Math.min(AT_ONCE, MAX_REPOSITORIES - found.length));
      const may = await Promise.all(some.map(({ fullName }) => this.mayWrite(reached, fullName)));
      found.push(...some.filter((_, index) => may[index]));
      at += some.length;
    }
    return [found, at];
  }

  private async mayWrite(reached: ReachedHost, fullName: string): Promise<boolean> {
    const access = await this.hosts.accessTo(reached, fullName);
    return access === 'write' || access === 'admin';
  }
}

function toTask({ row, provider }: ReachedHost, work: OwnWork): SuggestedTask {
  const { kind, repository, number, title, url, branch } = work;
  return {
    kind: KINDS[kind],
    connectionId: row.id,
    repository: `${provider.id}:${repository}`,
    fullName: repository,
    number,
    title: title.slice(0, 300).toWellFormed(),
    url,
    branch: kind === 'red-default-branch' ? null : branch,
    prompt: suggestedPrompt(work),
  };
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          new ProviderRefusal('no answer in time', {
            kind: 'unavailable',
            status: null,
            retryAt: null,
            outcomeUnknown: false,
          }),
        ),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
