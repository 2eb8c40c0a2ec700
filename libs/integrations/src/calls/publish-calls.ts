import { z } from 'zod';
import { dateOf, fields, flag, id, list, maybe, moment, name, text, title, url } from '../reading/fields.js';
import { actorOf, repository as forgeRepository, repositoryOf, user } from '../reading/forge.js';
import { blob, blobText } from './blob.js';
import type { CommitCheck, FolderAt, FullName, HostTree, RepositoryListing, Review } from './code-host.js';
import type { ProviderClient } from './provider-client.js';
import { part, repo } from './repository-path.js';

/** What follows a pull request after it was opened, alike on GitHub and Gitea below their own base paths. */
export interface PublishCalls {
  repository(fullName: FullName): Promise<RepositoryListing>;
  tree(repository: FullName, folder: FolderAt): Promise<HostTree>;
  blob(repository: FullName, hash: string): Promise<string>;
  checks(repository: FullName, sha: string): Promise<readonly CommitCheck[]>;
  reviews(repository: FullName, number: number): Promise<readonly Review[]>;
}

/** GitHub calls the state of a status `state`, Gitea `status`. */
const status = fields({
  id,
  context: title,
  description: text,
  target_url: z.unknown().optional(),
  state: maybe(name),
  status: maybe(name),
});
const combined = fields({ statuses: list(status) });
const review = fields({ user: maybe(user), state: name, dismissed: flag, submitted_at: moment });
const tree = fields({ truncated: flag, tree: z.array(fields({ path: z.string(), mode: name, sha: name })) });

/** As git itself has it. */
const FOLDER = '040000';

const STATES: Readonly<Record<string, CommitCheck['state']>> = {
  success: 'success',
  failure: 'failure',
  error: 'failure',
  pending: 'pending',
  warning: 'neutral',
};

/** @param idOf names a status, where its address says more than its number. */
export function publishCalls(
  client: ProviderClient,
  idOf = (statusId: string, _address: string): string => `status-${statusId}`,
): PublishCalls {
  return {
    repository: async (fullName) =>
      repositoryOf((await client.call({ method: 'GET', path: repo(fullName), answer: forgeRepository })).body),
    tree: async (repository, { hash }) => {
      const { body } = await client.call({
        method: 'GET',
        path: `${repo(repository)}/git/trees/${part(hash)}?per_page=1000`,
        answer: tree,
      });
      const folders = new Set(body.tree.filter(({ mode }) => mode === FOLDER).map((entry) => entry.path));
      return { whole: !body.truncated, entries: new Map(body.tree.map((entry) => [entry.path, entry.sha])), folders };
    },
    blob: async (repository, hash) =>
      blobText(
        (await client.call({ method: 'GET', path: `${repo(repository)}/git/blobs/${part(hash)}`, answer: blob })).body,
      ),
    checks: async (repository, sha) => {
      const path = `${repo(repository)}/commits/${part(sha)}/status?per_page=100&limit=50`;
      const { body } = await client.call({ method: 'GET', path, answer: combined });
      return body.statuses.map((each) => ({
        id: idOf(each.id, typeof each.target_url === 'string' ? each.target_url : ''),
        name: each.context,
        state: STATES[(each.state ?? each.status ?? '').toLowerCase()] ?? 'pending',
        description: each.description,
        url: url.parse(each.target_url),
      }));
    },
    reviews: async (repository, number) => {
      const { body } = await client.call({
        method: 'GET',
        path: `${repo(repository)}/pulls/${number}/reviews?per_page=100&limit=50`,
        answer: z.array(review),
      });
      return body.flatMap((each) => {
        const verdict = verdictOf(each.state);
        return verdict === null || each.dismissed || each.user === null
          ? []
          : [
              {
                userId: each.user.id,
                verdict,
                at: dateOf(each.submitted_at),
                byBot: actorOf(each.user).kind === 'bot',
              },
            ];
      });
    },
  };
}

function verdictOf(state: string): Review['verdict'] | null {
  switch (state.toUpperCase()) {
    case 'APPROVED':
      return 'approved';
    case 'CHANGES_REQUESTED':
    case 'REQUEST_CHANGES':
      return 'changes-requested';
    case 'COMMENTED':
    case 'COMMENT':
      return 'commented';
    default:
      return null;
  }
}
