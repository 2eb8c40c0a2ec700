import { z } from 'zod';
import { dateOf, fields, maybe, moment, name } from '../reading/fields.js';
import { actorOf, user } from '../reading/forge.js';
import type { Bounded, HostCommit, RepositoryHistory } from './code-host.js';
import type { ProviderClient } from './provider-client.js';
import { part, repo } from './repository-path.js';

/** Most files of one pull request that are read. */
export const MAX_PULL_FILES = 300;
/** GitHub gives so many commits of a pull request and says of no more: as many are not all. */
export const MAX_PULL_COMMITS = 250;

const message = z.string().transform((value) => value.slice(0, 20_000));
const commit = fields({
  sha: name,
  commit: fields({ message, committer: maybe(fields({ date: moment })) }),
  author: maybe(user).catch(null),
  parents: z.array(z.unknown()).catch([]),
});
const file = fields({ filename: name, previous_filename: maybe(name) });

/**
 * History of a repository at GitHub and Gitea, below their own base paths.
 * @param page length of a page: GitHub's 100, Gitea's 50.
 * @param oldestFirst how the host lists the commits of a pull request.
 */
export function historyCalls(
  client: ProviderClient,
  { page: length, oldestFirst }: { readonly page: number; readonly oldestFirst: boolean },
): RepositoryHistory {
  const pages = <T>(
    path: string,
    schema: z.ZodType<T>,
    most: number,
    goOn?: (items: readonly T[]) => boolean,
  ): Promise<Bounded<T>> =>
    readPages(
      async (page) =>
        (
          await client.call({
            method: 'GET',
            path: `${path}per_page=${length}&limit=${length}&page=${page}`,
            answer: z.array(schema),
          })
        ).body,
      { length, most, ...(goOn === undefined ? {} : { goOn }) },
    );
  return {
    commits: async (repository, { branch, path, since, until }, most) => {
      const file = path === undefined ? '' : `&path=${part(path)}`;
      const asked = `${repo(repository)}/commits?sha=${part(branch)}${file}&since=${since.toISOString()}&until=${until.toISOString()}&stat=false&verification=false&files=false&`;
      // An older Gitea takes no notice of the span, so that its list is read until it comes to its beginning.
      const { items, whole } = await pages(asked, commit, most, (found) =>
        found.some((each) => (dateOf(each.commit.committer?.date ?? null) ?? until) >= since),
      );
      return { items: items.flatMap(commitOf).filter(({ at }) => at >= since && at <= until), whole };
    },
    pullRequestCommits: async ({ repository, number }) => {
      const { items, whole } = await pages(
        `${repo(repository)}/pulls/${number}/commits?verification=false&files=false&`,
        commit,
        MAX_PULL_COMMITS,
      );
      const commits = items.flatMap(commitOf);
      return {
        items: oldestFirst ? commits : commits.toReversed(),
        whole: whole && commits.length === items.length && items.length < MAX_PULL_COMMITS,
      };
    },
    pullRequestFiles: async ({ repository, number }) => {
      const { items, whole } = await pages(`${repo(repository)}/pulls/${number}/files?`, file, MAX_PULL_FILES);
      return {
        items: [
          ...new Set(
            items.flatMap(({ filename, previous_filename }) => [
              filename,
              ...(previous_filename === null ? [] : [previous_filename]),
            ]),
          ),
        ],
        whole,
      };
    },
  };
}

function commitOf({
  sha,
  commit: { message: said, committer },
  author,
  parents,
}: z.output<typeof commit>): HostCommit[] {
  const at = dateOf(committer?.date ?? null);
  return at === null
    ? []
    : [
        {
          sha,
          at,
          message: said,
          isMerge: parents.length > 1,
          byBot: author !== null && actorOf(author).kind === 'bot',
        },
      ];
}

/**
 * Pages until one is not full, until there are `most` items, or until `goOn` of a page says no: that is an end, too.
 */
export async function readPages<T>(
  read: (page: number) => Promise<readonly T[]>,
  {
    length,
    most,
    goOn = () => true,
  }: { readonly length: number; readonly most: number; readonly goOn?: (items: readonly T[]) => boolean },
): Promise<Bounded<T>> {
  const items: T[] = [];
  for (let page = 1; items.length < most; page += 1) {
    const found = await read(page);
    items.push(...found);
    if (found.length < length || !goOn(found)) return { items, whole: true };
  }
  return { items, whole: false };
}
