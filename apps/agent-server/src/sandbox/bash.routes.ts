import { AGENT_ROUTES, ExecuteBashRequest } from '@slipway/contracts/agent';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import { type Handler, ok, type Route, readJson, serve } from '../http/router.js';
import { type BashEvent, type BashEvents, commandIdOf } from './bash-events.js';

const MAX_PAGE = 100;

/** Commands of the platform and of SDK clients, outside the agent's shell: each in a process group of its own. */
export function bashRoutes(bash: BashEvents): Route[] {
  const route = (method: Route['method'], path: string, handle: Handler): Route => ({
    method,
    path: `/api/bash${path}`,
    access: 'session',
    handle,
  });
  return [
    serve(AGENT_ROUTES.runCommand, async ({ body, signal }) => ok(await bash.execute(await body(), signal))),
    route('POST', '/start_bash_command', async ({ request }) =>
      ok(bash.start(parseOrThrow(ExecuteBashRequest, await readJson(request)))),
    ),
    route('POST', '/bash_commands/:id/stop', ({ params }) => {
      bash.stop(params['id'] ?? '');
      return ok({ success: true });
    }),
    route('GET', '/bash_events/search', ({ query }) => ok(search(bash.events, query))),
    route('GET', '/bash_events', ({ query }) =>
      ok(query.getAll('event_ids').map((id) => bash.events.find((event) => event.id === id) ?? null)),
    ),
    route('GET', '/bash_events/:id', ({ params }) => {
      const found = bash.events.find((event) => event.id === params['id']);
      if (found === undefined) throw notFound();
      return ok(found);
    }),
    route('DELETE', '/bash_events', () => ok({ cleared_count: bash.clear() })),
  ];
}

function search(
  events: readonly BashEvent[],
  query: URLSearchParams,
): { items: BashEvent[]; next_page_id: string | null } {
  const limit = Number(query.get('limit') ?? MAX_PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new SlipwayError('request.invalid', `limit: must be 1 to ${MAX_PAGE}`);
  const after = Number(query.get('order__gt') ?? -1);
  const from = query.get('timestamp__gte');
  const to = query.get('timestamp__lt');
  const found = events.filter(
    (event) =>
      (query.get('kind__eq') ?? event.kind) === event.kind &&
      (query.get('command_id__eq') ?? commandIdOf(event)) === commandIdOf(event) &&
      (event.kind !== 'BashOutput' || event.order > after) &&
      (from === null || event.timestamp >= from) &&
      (to === null || event.timestamp < to),
  );
  if (query.get('sort_order') === 'TIMESTAMP_DESC') found.reverse();
  // A page begins at the event that is its id, so that what comes later shifts nothing.
  const page = query.get('page_id');
  const start = page === null ? 0 : found.findIndex((event) => event.id === page);
  if (start === -1) throw new SlipwayError('request.invalid', 'page_id: is not an event that is still known');
  return { items: found.slice(start, start + limit), next_page_id: found[start + limit]?.id ?? null };
}
