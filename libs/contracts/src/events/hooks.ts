import { z } from 'zod';

export const HOOK_TYPES = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
] as const;
export type HookType = (typeof HOOK_TYPES)[number];

/**
 * A `command`, a `prompt` that the agent's model answers, or an `agent` that reads the sandbox before it answers
 * `prompt` or `system_prompt`. `timeout` in seconds.
 */
export const HookDefinition = z.looseObject({
  type: z.string().default('command'),
  command: z.string().max(20_000).default(''),
  /**
   * Of a prompt or an agent. `$ARGUMENTS` in it is what a command has on its standard input, as JSON; without that it
   * stands below.
   */
  prompt: z.string().max(20_000).nullish(),
  system_prompt: z.string().max(20_000).nullish(),
  /** Of an agent: names of its tools, out of the read-only ones; empty: all of those. */
  tools: z.array(z.string().max(100)).max(50).default([]),
  /** Of an agent: most answers of its model. */
  max_iterations: z.int().min(1).max(50).default(10),
  timeout: z.number().positive().max(600).default(60),
});
/** `matcher` is a regular expression over names of tools, ours or Claude Code's; `*` and nothing are all. */
export const HookMatcher = z.looseObject({
  matcher: z.string().max(500).default('*'),
  hooks: z.array(HookDefinition).max(20).default([]),
});
export type HookDefinition = z.infer<typeof HookDefinition>;
export type HookMatcher = z.infer<typeof HookMatcher>;

const matchers = z.array(HookMatcher).max(20).default([]);
const Config = z.looseObject({
  pre_tool_use: matchers,
  post_tool_use: matchers,
  user_prompt_submit: matchers,
  session_start: matchers,
  session_end: matchers,
  stop: matchers,
});

/** `PreToolUse` as OpenHands writes it: `pre_tool_use`. */
export function hookKey(type: HookType): keyof z.infer<typeof Config> & string {
  return type.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
}

/** What runs at which moment: OpenHands' form, or Claude Code's (`{"hooks": {"PreToolUse": […]}}`). */
export const HookConfig = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const outer = value as Record<string, unknown>;
  const inner = (typeof outer['hooks'] === 'object' && outer['hooks'] !== null ? outer['hooks'] : outer) as Record<
    string,
    unknown
  >;
  return Object.fromEntries(HOOK_TYPES.map((type) => [hookKey(type), inner[type] ?? inner[hookKey(type)] ?? []]));
}, Config);
export type HookConfig = z.infer<typeof Config>;
