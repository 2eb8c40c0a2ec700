import { STANDARD_TOOLS } from '@slipway/agent';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { z } from 'zod';
import { ok, type Route, readJson } from '../http/router.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';
import { readProjectSkills } from '../sandbox/project-skills.js';
import { listedTool } from './openhands-tools.js';
import { operationsOfOpenHands } from './operations.js';

const LoadSkills = z.looseObject({
  project_dir: z.string().min(1).max(4_096).nullish(),
  load_project: z.boolean().default(true),
});

/**
 * The same routes once more below a conversation, as clients ask for the workspace of one: it has no other than the
 * sandbox's.
 */
export function inRuntimes(routes: readonly Route[]): Route[] {
  return [
    ...routes,
    ...routes.map((route) => ({ ...route, path: route.path.replace(/^\/api\//, '/api/conversations/:runtime/') })),
  ];
}

/**
 * What OpenHands' clients ask of a server beside conversations. What is offered elsewhere, or not at all, is refused
 * with a word on what takes its place.
 */
export function openhandsRoutes(actionServer: ActionServerClient, workspaceDir: string): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/tools',
      access: 'session',
      handle: () => ok(STANDARD_TOOLS.map(({ definition }) => definition.name)),
    },
    { method: 'GET', path: '/api/tools/catalog', access: 'session', handle: () => ok(STANDARD_TOOLS.map(listedTool)) },
    {
      method: 'POST',
      path: '/api/skills',
      access: 'session',
      handle: async ({ request, signal }) => {
        const { project_dir, load_project } = parseOrThrow(LoadSkills, (await readJson(request)) ?? {});
        const skills = load_project ? await readProjectSkills(actionServer, project_dir ?? workspaceDir, signal) : [];
        return ok({ skills, sources: { public: 0, user: 0, org: 0, project: skills.length, sandbox: 0 } });
      },
    },
    ...operationsOfOpenHands
      .filter(({ state }) => state === 'not-here')
      .map(
        ({ method, path, note }): Route => ({
          method,
          path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
          access: 'session',
          handle: () => {
            throw new SlipwayError('feature.not-here', note);
          },
        }),
      ),
  ];
}
