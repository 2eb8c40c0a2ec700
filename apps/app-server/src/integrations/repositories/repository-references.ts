import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import type { Provider } from '@slipway/integrations';
import { invalid } from '../code-host-address.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import { CodeHosts, type ReachedHost } from './code-hosts.js';
import { reachedOr, unknownRepository } from './repositories.service.js';

/** Names of repositories, as callers give them, to addresses. */
@Injectable()
export class RepositoryReferences {
  constructor(
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly hosts: CodeHosts,
    private readonly calls: ProviderCalls,
  ) {}

  /**
   * The URL of what a caller names as a URL or as `provider:owner/name`. A reference is looked up with the connections of the organization, and the caller's linked account must
   * be able to read it. Where the organization has no connection to a provider with a host of its own, it is the public repository there.
   * @throws SlipwayError `request.invalid` for a provider that is none; `repository.not-connected`, `linked-account.needed`, `repository.unknown`, `repository.ambiguous`;
   * `integration.provider-away`, `integration.provider-refused`.
   */
  async urlOf(caller: Principal, repository: string): Promise<string> {
    if (/^https?:\/\//i.test(repository)) return repository;
    const [id = '', fullName = ''] = repository.split(':', 2);
    const provider = this.providers.get(id);
    if (provider === undefined || !provider.does.includes('code')) throw invalid('repository', `${id} is no git host that is known here`);
    const hosts = (await this.hosts.of(caller)).filter(({ row }) => row.provider === id);
    if (hosts.length === 0) {
      if (provider.host !== null) return `https://${provider.host}/${fullName}`;
      throw new SlipwayError('repository.not-connected', `The organization has no connection to ${provider.name}.`);
    }
    const reached = hosts.filter((each): each is ReachedHost => !('why' in each));
    // None can be asked: by the one that lacks the least.
    if (reached.length === 0) reachedOr(hosts.find((each) => 'why' in each && each.why === 'link-needed') ?? (hosts[0] as ReachedHost));
    const asked = await Promise.all(
      reached.map((each) => this.find(each, fullName).catch((error: unknown) => ({ problem: this.calls.problem(error, each.row.host) }))),
    );
    const urls = new Set(asked.filter((each) => typeof each === 'string'));
    const [url] = urls;
    if (urls.size > 1) throw new SlipwayError('repository.ambiguous', `${[...urls].join(' and ')} have this name.`);
    if (url !== undefined) return url;
    const failed = asked.find((each) => each !== null && typeof each === 'object');
    throw failed === undefined ? unknownRepository(fullName) : failed.problem;
  }

  /** `null`: it is not there, or the user may not read it. */
  private async find(reached: ReachedHost, fullName: string): Promise<string | null> {
    const found = await this.hosts.find(reached, fullName);
    if (found === null || (await this.hosts.accessTo(reached, found.fullName)) === null) return null;
    return `${reached.baseUrl}/${found.fullName}`;
  }
}
