import { type AgentAction, type EventOf, SECURITY_RISKS, type SecurityRisk } from '@slipway/contracts';
import type { ToolCall, ToolDefinition } from '@slipway/llm';
import type { Tool } from './tool.js';

export type ParsedCall =
  | { readonly ok: true; readonly tool: Tool; readonly action: AgentAction; readonly risk: SecurityRisk; readonly summary: string | undefined }
  | { readonly ok: false; readonly error: string };

/** The tools of one conversation. */
export class Toolbox {
  private readonly byName = new Map<string, Tool>();
  readonly definitions: readonly ToolDefinition[];

  /** Of two tools with one name the first counts; an alias never hides a name. */
  constructor(readonly tools: readonly Tool[]) {
    const named = (name: string, tool: Tool): void => void (this.byName.has(name) || this.byName.set(name, tool));
    for (const tool of tools) named(tool.definition.name, tool);
    for (const tool of tools) for (const alias of tool.aliases ?? []) named(alias, tool);
    this.definitions = tools.map(({ definition }) => definition);
  }

  /** The tool that an action in the log was made by, and the action as the tool reads it; `null` when there is no such tool any more. */
  recall(event: EventOf<'ActionEvent'>): { tool: Tool; action: AgentAction } | null {
    const tool = this.tools.find(({ kind }) => kind === event.action.kind);
    const parsed = tool?.schema.safeParse(event.action);
    return tool === undefined || parsed?.success !== true ? null : { tool, action: parsed.data };
  }

  /** The action that a tool call asks for, or a sentence for the model that says what is wrong with the call. */
  parse(call: ToolCall): ParsedCall {
    const tool = this.byName.get(call.name);
    if (tool === undefined)
      return { ok: false, error: `There is no tool "${call.name}". The tools are: ${this.definitions.map(({ name }) => name).join(', ')}.` };
    let args: unknown;
    try {
      args = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
    } catch (error) {
      return {
        ok: false,
        error: `The arguments of ${call.name} are not valid JSON (${(error as Error).message}). They began with: ${call.arguments.slice(0, 200)}`,
      };
    }
    if (typeof args !== 'object' || args === null || Array.isArray(args)) return { ok: false, error: `The arguments of ${call.name} must be a JSON object.` };
    const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
    const parsed = tool.schema.safeParse({ ...given, kind: tool.kind });
    if (!parsed.success) {
      return {
        ok: false,
        error: `The arguments of ${call.name} are not valid: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`).join('; ')}`,
      };
    }
    const { security_risk: risk, summary } = given as { security_risk?: unknown; summary?: unknown };
    return {
      ok: true,
      tool,
      action: parsed.data,
      risk: SECURITY_RISKS.find((known) => known === risk) ?? 'UNKNOWN',
      summary: typeof summary === 'string' && summary !== '' ? summary.slice(0, 300) : undefined,
    };
  }
}
