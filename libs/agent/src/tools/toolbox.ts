import { type AgentAction } from '@slipway/contracts/actions';
import { SECURITY_RISKS } from '@slipway/contracts/conversations';
import { type EventOf } from '@slipway/contracts/events';
import type { ToolCall, ToolDefinition } from '@slipway/llm';
import type { z } from 'zod';
import type { ParsedCall, Tool, ToolSet } from '../ports.js';

/**
 * Of what is wrong with a call, how much the model gets: the beginning is enough to correct it, and the whole may be as
 * long as the call.
 */
const MAX_FAULTS = 10;
const MAX_FAULT_LENGTH = 300;
const MAX_SAID_NAME = 100;
/** Deepest arguments. An event is read and written in many places, each level of it one of the stack. */
const MAX_DEPTH = 100;

function faultsIn(issues: z.core.$ZodError['issues']): string {
  const said = issues
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`.slice(0, MAX_FAULT_LENGTH));
  return [...said, ...(issues.length > MAX_FAULTS ? [`and ${issues.length - MAX_FAULTS} more faults`] : [])].join('; ');
}

function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

/** Tools that come and go while the conversation goes on. */
export interface ComingTools {
  /** Another array whenever they are others. */
  readonly tools: readonly Tool[];
  /** Resolves when they are there or have had their time; never rejects but with the signal's reason. */
  settled(signal: AbortSignal): Promise<void>;
}
const NONE: ComingTools = { tools: [], settled: () => Promise.resolve() };

/** The tools of one conversation. */
export class Toolbox implements ToolSet {
  shown?: readonly Tool[];
  private known: {
    readonly coming: readonly Tool[];
    readonly all: readonly Tool[];
    readonly byName: ReadonlyMap<string, Tool>;
  };

  /** Of two tools with one name the first counts; an alias never hides a name. */
  constructor(
    private readonly own: readonly Tool[],
    private readonly coming: ComingTools = NONE,
  ) {
    this.known = this.look();
  }

  get tools(): readonly Tool[] {
    return this.now().all;
  }

  get definitions(): readonly ToolDefinition[] {
    return this.tools.map(({ definition }) => definition);
  }

  settled(signal: AbortSignal): Promise<void> {
    return this.coming.settled(signal);
  }

  private now(): Toolbox['known'] {
    if (this.known.coming !== this.coming.tools) this.known = this.look();
    return this.known;
  }

  private look(): Toolbox['known'] {
    const coming = this.coming.tools;
    const all = [...this.own, ...coming];
    const byName = new Map<string, Tool>();
    const named = (name: string, tool: Tool): void => void (byName.has(name) || byName.set(name, tool));
    for (const tool of all) named(tool.definition.name, tool);
    for (const tool of all) for (const alias of tool.aliases ?? []) named(alias, tool);
    return { coming, all, byName };
  }

  recall(event: EventOf<'ActionEvent'>): { tool: Tool; action: AgentAction } | null {
    const alike = this.tools.filter(({ kind }) => kind === event.action.kind);
    const tool =
      alike.find(({ definition }) => definition.name === event.tool_name) ??
      alike.find(({ readArguments }) => readArguments === undefined);
    const parsed = tool?.schema.safeParse(event.action);
    return tool === undefined || parsed?.success !== true ? null : { tool, action: parsed.data };
  }

  parse(call: ToolCall): ParsedCall {
    const tool = this.now().byName.get(call.name);
    if (tool === undefined)
      return {
        ok: false,
        error: `There is no tool "${call.name.slice(0, MAX_SAID_NAME)}". The tools are: ${this.definitions.map(({ name }) => name).join(', ')}.`,
      };
    let args: unknown;
    try {
      args = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
    } catch (error) {
      return {
        ok: false,
        error: `The arguments of ${call.name} are not valid JSON (${(error as Error).message}). They began with: ${call.arguments.slice(0, 200)}`,
      };
    }
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      return { ok: false, error: `The arguments of ${call.name} must be a JSON object.` };
    const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
    const parsed = tool.schema.safeParse(
      tool.readArguments?.(args as Record<string, unknown>) ?? { ...given, kind: tool.kind },
    );
    if (!parsed.success) {
      return {
        ok: false,
        error: `The arguments of ${call.name} are not valid: ${faultsIn(parsed.error.issues)}`,
      };
    }
    if (isDeeperThan(parsed.data, MAX_DEPTH))
      return { ok: false, error: `The arguments of ${call.name} are nested too deep: at most ${MAX_DEPTH} levels.` };
    const { security_risk: risk, summary } = given as { security_risk?: unknown; summary?: unknown };
    return {
      ok: true,
      tool,
      action: parsed.data,
      risk: (tool.saysRisk !== false && SECURITY_RISKS.find((known) => known === risk)) || 'UNKNOWN',
      summary:
        tool.saysRisk !== false && typeof summary === 'string' && summary !== '' ? summary.slice(0, 300) : undefined,
    };
  }
}
