import { kindsOf, type SubAgentKind } from '@slipway/agent';
import { HookConfig } from '@slipway/contracts/events';
import { notFound, parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import type { Conversations } from '../conversations/conversations.js';
import { readWorkspaceFiles } from '../conversations/workspace-files.js';
import { ok, type Route, readJson } from '../http/router.js';
import type { ActionServerClient } from '../sandbox/action-server-client.js';

const READ_TIMEOUT_MS = 15_000;
const ProjectDir = z.looseObject({ project_dir: z.string().min(1).max(4_096).nullish() });
const SubAgents = ProjectDir.extend({ load_builtin: z.boolean().default(true) });

/**
 * What a client lists before it offers a choice. Of what is not kept in a sandbox there is none: the list says so, and
 * the way to add to it is refused with a word.
 */
const NOTHING: Readonly<Record<string, object>> = {
  '/api/skills/installed': { skills: [] },
  '/api/skills/catalog': { skills: [] },
  '/api/skills/marketplace': { skills: [] },
  '/api/plugins/installed': { plugins: [] },
  '/api/canvas-extensions/installed': { canvas_extensions: [] },
  '/api/profiles': { profiles: [], active_profile: null },
  '/api/agent-profiles': { profiles: [], active_agent_profile_id: null },
  '/api/meta-profiles': { meta_profiles: [], active_meta_profile: null },
  '/api/llm/provider-connections': [],
};

/** Of those there is none by any name. */
const NONE_BY_NAME = [
  '/api/skills/installed/:name',
  '/api/plugins/installed/:name',
  '/api/canvas-extensions/installed/:name',
  '/api/profiles/:name',
  '/api/agent-profiles/:name',
  '/api/meta-profiles/:name',
];

export function listingRoutes(
  conversations: Conversations,
  actionServer: ActionServerClient,
  workspaceDir: string,
): Route[] {
  return [
    ...Object.entries(NOTHING).map(
      ([path, none]): Route => ({ method: 'GET', path, access: 'session', handle: () => ok(none) }),
    ),
    ...NONE_BY_NAME.map(
      (path): Route => ({
        method: 'GET',
        path,
        access: 'session',
        handle: () => {
          throw notFound();
        },
      }),
    ),
    {
      method: 'GET',
      path: '/api/workspaces',
      access: 'session',
      handle: () =>
        ok({
          workspaces: [{ id: workspaceDir, name: 'workspace', path: workspaceDir, parentPath: null }],
          workspaceParents: [],
        }),
    },
    {
      method: 'GET',
      path: '/api/conversations/:id/runtime',
      access: 'session',
      handle: async ({ params }) => {
        await conversations.get(params['id']);
        return ok({ runtime_status: 'available', can_resume: false, runtime_error: null });
      },
    },
    {
      method: 'POST',
      path: '/api/hooks',
      access: 'session',
      handle: async ({ request, signal }) => {
        const { project_dir } = parseOrThrow(ProjectDir, (await readJson(request)) ?? {});
        const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
        const { hooks } = await readWorkspaceFiles(actionServer, project_dir ?? workspaceDir, limit);
        return ok({ hook_config: hooks === null ? null : HookConfig.parse(hooks) });
      },
    },
    {
      method: 'POST',
      path: '/api/sub-agents',
      access: 'session',
      handle: async ({ request }) => {
        const { load_builtin } = parseOrThrow(SubAgents, (await readJson(request)) ?? {});
        return ok({ agents: load_builtin ? [...kindsOf([]).values()].map(listedKind) : [] });
      },
    },
  ];
}

function listedKind({ name, description, tools, prompt, maxIterations }: SubAgentKind): object {
  return {
    name,
    description,
    model: 'inherit',
    color: null,
    tools: tools ?? [],
    skills: [],
    system_prompt: prompt,
    when_to_use_examples: [],
    permission_mode: null,
    max_iteration_per_run: maxIterations,
    max_budget_per_run: null,
    mcp_config: null,
    mcp_servers: null,
    profile_store_dir: null,
    hooks: null,
    condenser: null,
    metadata: {},
    level: 'builtin',
    source: null,
    is_builtin: true,
  };
}
