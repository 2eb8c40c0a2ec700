import { ok, type Route } from './router.js';

/**
 * `GET /openapi.json`: every route of this server by its address. What goes in and out of those on OpenHands' wire is
 * in its own document, and what differs in docs/compatibility.md.
 */
export function openapiRoute(routes: readonly Route[]): Route {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, access } of routes) {
    const address = path.replaceAll(/:(\w+)\*?/g, '{$1}');
    const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }));
    paths[address] ??= {};
    // Of two routes for one address the first answers.
    paths[address][method.toLowerCase()] ??= {
      parameters,
      responses: { default: { description: 'JSON, or a problem document.' } },
      security: access === 'open' ? [] : [{ session: [] }],
    };
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Slipway agent-server', version: '0.1.0' },
    paths,
    components: { securitySchemes: { session: { type: 'apiKey', in: 'header', name: 'X-Session-API-Key' } } },
  };
  return { method: 'GET', path: '/openapi.json', access: 'open', handle: () => ok(document) };
}
