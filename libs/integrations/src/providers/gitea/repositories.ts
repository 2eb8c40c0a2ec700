import type { CodeHost } from '../../calls/code-host.js';
import { listedRepository, pageNumber, pageOf } from '../../calls/forge-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { part, repo } from '../../calls/repository-path.js';
import { fields, list, name } from '../../reading/fields.js';
import { repositoryOf } from '../../reading/forge.js';
import { PAGE } from './page.js';

/** Lists of repositories and of their branches. */
export function giteaRepositories(client: ProviderClient): Pick<CodeHost, 'repositories' | 'branches'> {
  return {
    // Not `/user/repos`, which wants a token for users as well. It shows rights of others to administrators of the
    // repository only.
    repositories: async (asked, query) => {
      const page = pageNumber(asked);
      const path = `/repos/search?sort=alpha&limit=${PAGE}&page=${page}${query === undefined ? '' : `&q=${part(query)}`}`;
      const { body } = await client.call({ method: 'GET', path, answer: fields({ data: list(listedRepository) }) });
      const { next } = pageOf(body.data, page, PAGE);
      return { items: body.data.filter(({ permissions }) => permissions?.admin === true).map(repositoryOf), next };
    },
    branches: async (repository, asked) => {
      const page = pageNumber(asked);
      const path = `${repo(repository)}/branches?limit=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(fields({ name })) });
      return pageOf(
        body.map((each) => each.name),
        page,
        PAGE,
      );
    },
  };
}
