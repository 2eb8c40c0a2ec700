import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GitLabState } from './gitlab-state.js';
import { hookRoutes } from './hook-routes.js';
import { mergeRequestRoutes } from './merge-request-routes.js';
import type { GitLabUser } from './model.js';
import { projectRoutes } from './project-routes.js';
import { missing, type Route, type RouteAnswer, refused, shownProject, shownUser } from './route.js';
import { threadRoutes } from './thread-routes.js';

const ROUTES: readonly Route[] = [...projectRoutes, ...mergeRequestRoutes, ...threadRoutes, ...hookRoutes];
const READS = ['api', 'read_api'];

/** GitLab's API, version 4. */
export class GitLabRoutes {
  constructor(private readonly gitlab: GitLabState) {}

  async take(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const part of request) chunks.push(part as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const [status, answer, headers] = await this.answer(request, url, body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(status === 204 ? undefined : JSON.stringify(answer));
  }

  private async answer(
    request: IncomingMessage,
    { pathname, searchParams: query }: URL,
    body: Record<string, unknown>,
  ): Promise<RouteAnswer> {
    const token = this.gitlab.tokens.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
    if (token === undefined) return [401, { message: '401 Unauthorized' }];
    const method = request.method ?? '';
    if (!token.scopes.some((scope) => (method === 'GET' ? READS.includes(scope) : scope === 'api')))
      return [
        403,
        {
          error: 'insufficient_scope',
          error_description: 'The request requires higher privileges than provided by the access token.',
        },
      ];
    const [first, id, ...rest] = pathname.slice('/api/v4/'.length).split('/').map(decodeURIComponent);
    const call = { gitlab: this.gitlab, by: token.user, query, body };
    if (method === 'GET' && first === 'user' && id === undefined) return [200, shownUser(token.user)];
    if (first !== 'projects') return missing('Route');
    if (id === undefined) return [200, listed(this.gitlab, token.user, query)];
    const project = this.gitlab.projects.find(
      (each) => String(each.id) === id || each.path.toLowerCase() === id.toLowerCase(),
    );
    const level = project?.members.get(token.user.id) ?? 0;
    if (project === undefined || (level === 0 && project.visibility !== 'public')) return missing('Project');
    for (const route of ROUTES) {
      const parts = matched(route.at, method, rest);
      if (parts === null) continue;
      if (level < (route.level ?? 0)) return refused;
      return route.answer({ ...call, parts, project });
    }
    return missing('Route');
  }
}

/** The parts that stand for `*`; `null`: another route. */
function matched(at: string, method: string, rest: readonly string[]): string[] | null {
  const [wanted, path = ''] = at.split(' ') as [string, string];
  const names = path.split('/').filter(Boolean);
  if (
    wanted !== method ||
    names.length !== rest.length ||
    names.some((name, index) => name !== '*' && name !== rest[index])
  )
    return null;
  return rest.filter((_, index) => names[index] === '*');
}

function listed(gitlab: GitLabState, by: GitLabUser, query: URLSearchParams): object[] {
  const [after, search] = [Number(query.get('id_after') ?? 0), query.get('search')?.toLowerCase() ?? ''];
  const least = Number(query.get('min_access_level') ?? 1);
  return gitlab.projects
    .filter(
      ({ id, path, members }) =>
        id > after && (members.get(by.id) ?? 0) >= least && path.toLowerCase().includes(search),
    )
    .toSorted((one, other) => one.id - other.id)
    .slice(0, Number(query.get('per_page') ?? 20))
    .map(shownProject);
}
