import { z } from 'zod';
import { BROWSER_TOOLS } from './browser.js';
import { FILE_EDIT_TOOL } from './file-edit.js';
import { FILE_EDITOR_TOOL, PLANNING_FILE_EDITOR_TOOL } from './file-editor.js';
import { IPYTHON_TOOL } from './ipython.js';
import { MCP_TOOL } from './mcp.js';
import { PATCH_TOOL } from './patch.js';
import { SEARCH_TOOLS } from './search.js';
import { SKILL_TOOL } from './skills.js';
import { SUB_AGENT_TOOLS } from './sub-agents.js';
import { TASK_TRACKER_TOOL } from './task-tracker.js';
import { TERMINAL_TOOL } from './terminal.js';
import { FINISH_TOOL, THINK_TOOL } from './think-and-finish.js';
import { type Activity, kindOf, type ToolContract } from './tool-contract.js';

/** Every tool of the agent. A new one is a file and a line here; all lists and unions of tools are made from this. */
export const TOOLS = [
  TERMINAL_TOOL,
  FILE_EDITOR_TOOL,
  PATCH_TOOL,
  IPYTHON_TOOL,
  ...SEARCH_TOOLS,
  ...BROWSER_TOOLS,
  FILE_EDIT_TOOL,
  TASK_TRACKER_TOOL,
  THINK_TOOL,
  FINISH_TOOL,
  ...SUB_AGENT_TOOLS,
  SKILL_TOOL,
  PLANNING_FILE_EDITOR_TOOL,
  MCP_TOOL,
] as const satisfies readonly ToolContract[];

type AnyTool = (typeof TOOLS)[number];
type SandboxTool = Extract<AnyTool, { readonly runsIn: 'sandbox' }>;

const SANDBOX_TOOLS = TOOLS.filter((tool): tool is SandboxTool => tool.runsIn === 'sandbox');

/** What runs in action-server. */
export const SandboxAction = byKind(SANDBOX_TOOLS.map(({ action }): SandboxTool['action'] => action));
export type SandboxAction = z.infer<typeof SandboxAction>;
export const SandboxObservation = byKind(
  SANDBOX_TOOLS.map(({ observation }): SandboxTool['observation'] => observation),
);
export type SandboxObservation = z.infer<typeof SandboxObservation>;
/** Every action of the agent: the sandbox's, and those that the agent answers itself. */
export const AgentAction = byKind(TOOLS.map(({ action }): AnyTool['action'] => action));
export type AgentAction = z.infer<typeof AgentAction>;

const BY_KIND: ReadonlyMap<string, ToolContract> = new Map(TOOLS.map((tool) => [kindOf(tool), tool]));

/** What a step with this kind of action counts as; `undefined` for one that is not counted, or not known. */
export function activityOf(kind: string): Activity | undefined {
  return BY_KIND.get(kind)?.activity;
}

/** What Claude Code calls the tool with this kind of action; empty where it has none alike. */
export function hookNamesOf(kind: string): readonly string[] {
  return BY_KIND.get(kind)?.hookNames ?? [];
}

/** The union of schemas that each have a `kind`, each of them once. */
function byKind<S extends z.core.$ZodTypeDiscriminable>(schemas: readonly S[]) {
  const [first, ...rest] = new Set(schemas);
  if (first === undefined) throw new Error('a union needs a member');
  return z.discriminatedUnion('kind', [first, ...rest]);
}
