import { z } from 'zod';
import type { HostCommit, RepositoryHistory } from '../../calls/code-host.js';
import { MAX_PULL_COMMITS, MAX_PULL_FILES, readPages } from '../../calls/history-calls.js';
import type { ProviderClient } from '../../calls/provider-client.js';
import { dateOf, fields, flag, list, moment, name } from '../../reading/fields.js';
import { part, project } from './paths.js';

const PAGE = 100;
const message = z.string().transform((value) => value.slice(0, 20_000));
const commit = fields({
  id: name,
  message,
  committed_date: moment,
  author_email: z.string().catch(''),
  parent_ids: z.array(z.unknown()).catch([]),
});
const diff = fields({ old_path: name, new_path: name, too_large: flag });

/** As GitLab addresses the users of its access tokens. */
const BOT = /^(?:project|group)_\d+_bot|_bot_[0-9a-f]+@|noreply\.gitlab/i;
/** The commits of a merge request are listed without their parents. */
const MERGE = /^Merge (?:remote-tracking )?branch(?:es)? /;

/** @param client below `/api/v4`. */
export function gitlabHistory(client: ProviderClient): RepositoryHistory {
  return {
    commits: async (repository, { branch, path, since, until }, most) => {
      const file = path === undefined ? '' : `&path=${part(path)}`;
      const asked = `${project(repository)}/repository/commits?ref_name=${part(branch)}${file}&since=${since.toISOString()}&until=${until.toISOString()}&per_page=${PAGE}`;
      const read = async (page: number) =>
        (await client.call({ method: 'GET', path: `${asked}&page=${page}`, answer: z.array(commit) })).body;
      const { items, whole } = await readPages(read, { length: PAGE, most });
      return { items: items.flatMap(commitOf).filter(({ at }) => at >= since && at <= until), whole };
    },
    pullRequestCommits: async ({ repository, number }) => {
      const asked = `${project(repository)}/merge_requests/${number}/commits?per_page=${PAGE}`;
      const read = async (page: number) =>
        (await client.call({ method: 'GET', path: `${asked}&page=${page}`, answer: z.array(commit) })).body;
      const { items, whole } = await readPages(read, { length: PAGE, most: MAX_PULL_COMMITS });
      const commits = items.flatMap(commitOf);
      return {
        items: commits.toReversed(),
        whole: whole && commits.length === items.length && items.length < MAX_PULL_COMMITS,
      };
    },
    pullRequestFiles: async ({ repository, number }) => {
      const asked = `${project(repository)}/merge_requests/${number}/diffs?per_page=${PAGE}`;
      const read = async (page: number) =>
        (await client.call({ method: 'GET', path: `${asked}&page=${page}`, answer: list(diff) })).body;
      const { items, whole } = await readPages(read, { length: PAGE, most: MAX_PULL_FILES });
      return { items: [...new Set(items.flatMap(({ old_path, new_path }) => [new_path, old_path]))], whole };
    },
  };
}

function commitOf({
  id: sha,
  message: said,
  committed_date,
  author_email,
  parent_ids,
}: z.output<typeof commit>): HostCommit[] {
  const at = dateOf(committed_date);
  return at === null
    ? []
    : [{ sha, at, message: said, isMerge: parent_ids.length > 1 || MERGE.test(said), byBot: BOT.test(author_email) }];
}
