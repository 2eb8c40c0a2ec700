import type { ListedCommit } from '../bare-repository.js';
import type { GitLabState } from './gitlab-state.js';
import type { GitLabProject, GitLabUser } from './model.js';

export interface RouteCall {
  readonly gitlab: GitLabState;
  readonly by: GitLabUser;
  /** Of the path's parts that are named, in order; without the project. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface ProjectCall extends RouteCall {
  readonly project: GitLabProject;
}
export type RouteAnswer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];
export interface Route {
  /** `METHOD /path`, with `*` for a part. */
  readonly at: string;
  /** Of the project; 403 for a member below it. */
  readonly level?: number;
  readonly answer: (call: ProjectCall) => RouteAnswer | Promise<RouteAnswer>;
}

export const missing = (what: string): RouteAnswer => [404, { message: `404 ${what} Not Found` }];
export const refused: RouteAnswer = [403, { message: '403 Forbidden' }];
export const pageOf = <T>(all: readonly T[], query: URLSearchParams): readonly T[] => {
  const [size, page] = [Number(query.get('per_page') ?? 20), Number(query.get('page') ?? 1)];
  return all.slice((page - 1) * size, page * size);
};
export const shownUser = ({ id, username }: GitLabUser): object => ({ id, username, name: username, state: 'active' });
export const shownProject = ({ id, path, visibility }: GitLabProject): object => ({
  id,
  path_with_namespace: path,
  default_branch: 'main',
  visibility,
});
export const shownCommit = ({ sha, at, authorEmail, parents, message }: ListedCommit): object => ({
  ...{
    id: sha,
    title: message.split('\n', 1)[0],
    message,
    author_email: authorEmail,
    committed_date: at,
    parent_ids: parents,
  },
});
