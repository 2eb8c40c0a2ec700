import { z } from 'zod';
import type { CodeHost } from '../../calls/code-host.js';
import { cut, forgeCalls, forgePullRequest, forgeRepository, pageOf, part, pullRequestOf, repo } from '../../calls/forge-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import { fields, name } from '../../reading/fields.js';
import { repositoryOf } from '../../reading/forge.js';

const PAGE = 100;

/** @param client of `api.github.com`, or of `/api/v3` of GitHub Enterprise, with an installation's token. */
export function githubCalls(client: ProviderClient): CodeHost {
  return {
    ...forgeCalls(client),
    repositories: async (page) => {
      const path = `/installation/repositories?per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: fields({ repositories: z.array(forgeRepository) }) });
      return pageOf(body.repositories.map(repositoryOf), page, PAGE);
    },
    branches: async (repository, page) => {
      const path = `${repo(repository)}/branches?per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: z.array(fields({ name })) });
      return pageOf(
        body.map((each) => each.name),
        page,
        PAGE,
      );
    },
    createPullRequest: async (repository, { body, ...pull }) => {
      try {
        const sent = { ...pull, body: cut(body), maintainer_can_modify: true };
        return pullRequestOf((await client.call({ method: 'POST', path: `${repo(repository)}/pulls`, body: sent, answer: forgePullRequest })).body);
      } catch (error) {
        // GitHub calls it invalid that there is one already.
        if (error instanceof ProviderRefusal && error.kind === 'invalid' && /already exists/i.test(error.message))
          throw new ProviderRefusal(error.message, { ...error, kind: 'conflict' }, { cause: error });
        throw error;
      }
    },
    findPullRequest: async (repository, { head, base }) => {
      const owner = repository.split('/', 1)[0] ?? '';
      const path = `${repo(repository)}/pulls?state=open&head=${part(`${owner}:${head}`)}&base=${part(base)}`;
      const { body } = await client.call({ method: 'GET', path, answer: z.array(forgePullRequest) });
      const [found] = body;
      return found === undefined ? null : pullRequestOf(found);
    },
    merge: async ({ repository, number }, sha) => {
      await client.call({ method: 'PUT', path: `${repo(repository)}/pulls/${number}/merge`, body: { sha }, answer: z.unknown() });
    },
  };
}
