import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { RepositoryGrant } from '@slipway/db/conversations';
import { SlipwayError } from '@slipway/errors';
import type { Provider } from '@slipway/integrations';
import { invalid } from '../code-host-address.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import { CodeHosts, type ReachedHost } from './code-hosts.js';
import { reachedOr, unknownRepository } from './repositories.service.js';

export interface FoundRepository {
  readonly url: string;
  /**
   * What the caller may read through a connection, as the provider has just confirmed; `null` when no provider was
   * asked.
   */
  readonly grant: RepositoryGrant | null;
}

/** Names of repositories, as callers give them, to addresses. */
@Injectable()
export class RepositoryReferences {
  constructor(
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly hosts: CodeHosts,
    private readonly calls: ProviderCalls,
  ) {}

  /**
   * What a caller names as a URL or as `provider:owner/name`. A reference is resolved with the connections of the
   * organization, and the caller's linked account must be able to read it. Where the organization has no connection to
   * a provider with a host of its own, it is the public repository there.
   * @throws SlipwayError `request.invalid` for a provider that is none; `repository.not-connected`,
   * `linked-account.needed`, `repository.unknown`, `repository.ambiguous`; `integration.provider-away`,
   * `integration.provider-refused`.
   */
  async find(caller: Principal, repository: string): Promise<FoundRepository> {
    if (/^https?:\/\//i.test(repository)) return { url: repository, grant: null };
    const [id = '', fullName = ''] = repository.split(':', 2);
    const provider = this.providers.get(id);
    if (provider === undefined || !provider.does.includes('code'))
      throw invalid('repository', `${id} is no git host that is known here`);
    const hosts = (await this.hosts.of(caller)).filter(({ row }) => row.provider === id);
    if (hosts.length === 0) {
      if (provider.host !== null) return { url: `https://${provider.host}/${fullName}`, grant: null };
      throw new SlipwayError('repository.not-connected', `The organization has no connection to ${provider.name}.`);
    }
    const reached = hosts.filter((each): each is ReachedHost => !('why' in each));
    // None can be asked: reports the one with the fewest missing parts.
    if (reached.length === 0)
      reachedOr(hosts.find((each) => 'why' in each && each.why === 'link-needed') ?? (hosts[0] as ReachedHost));
    const asked = await Promise.all(
      reached.map((each) =>
        this.foundAt(each, fullName).catch((error: unknown) => ({ problem: this.calls.problem(error, each.row.host) })),
      ),
    );
    const found = asked.filter((each) => each !== null && 'url' in each);
    const urls = new Set(found.map(({ url }) => url));
    if (urls.size > 1) throw new SlipwayError('repository.ambiguous', `${[...urls].join(' and ')} have this name.`);
    if (found[0] !== undefined) return found[0];
    const failed = asked.find((each) => each !== null && 'problem' in each);
    throw failed === undefined ? unknownRepository(fullName) : failed.problem;
  }

  /** `null`: it is not there, or the user may not read it. */
  private async foundAt(reached: ReachedHost, fullName: string): Promise<FoundRepository | null> {
    const found = await this.hosts.find(reached, fullName);
    if (found === null || (await this.hosts.accessTo(reached, found.fullName)) === null) return null;
    return {
      url: `${reached.baseUrl}/${found.fullName}`,
      grant: { connectionId: reached.row.id, fullName: found.fullName },
    };
  }
}
