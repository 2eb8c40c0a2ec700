import { McpCallRequest, McpServersRequest, McpTestRequest } from '@slipway/contracts/agent';
import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import { jsonBody } from '../http/body.js';
import type { Routes } from '../http/server.js';
import type { McpSets } from './mcp-sets.js';

/** `set` is the conversation. */
const SetQuery = z.object({ set: z.string().min(1).max(200) });
const ProgressQuery = SetQuery.extend({
  call: z.string().min(1).max(100),
  after: z.coerce.number().int().min(0).default(0),
});
const ToolsQuery = SetQuery.extend({ after: z.coerce.number().int().default(-1) });

export function mcpRoutes(sets: McpSets, workspace: string): Routes {
  const setOf = (query: URLSearchParams): string => parseOrThrow(SetQuery, Object.fromEntries(query)).set;
  return {
    'PUT /mcp/servers': async ({ query, request }) => {
      sets.use(setOf(query), await jsonBody(request, McpServersRequest));
      return { success: true };
    },
    'DELETE /mcp/servers': async ({ query }) => {
      sets.end(setOf(query));
      return { success: true };
    },
    'GET /mcp/tools': ({ query, signal }) => {
      const { set, after } = parseOrThrow(ToolsQuery, Object.fromEntries(query));
      return sets.tools(set, after, signal);
    },
    'GET /mcp/progress': async ({ query, signal }) => {
      const { set, call, after } = parseOrThrow(ProgressQuery, Object.fromEntries(query));
      return sets.progress(set, call, after, signal);
    },
    'POST /mcp/call': async ({ query, request, signal }) =>
      sets.call(setOf(query), await jsonBody(request, McpCallRequest), signal),
    'POST /mcp/test': async ({ request, signal }) =>
      sets.test(await jsonBody(request, McpTestRequest), workspace, signal),
  };
}
