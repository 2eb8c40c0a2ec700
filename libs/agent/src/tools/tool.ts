import type { AgentAction, ConversationEvent, EventOf } from '@slipway/contracts';
import type { ToolDefinition } from '@slipway/llm';
import type { z } from 'zod';
import type { AgentPorts, RunSettings } from '../ports.js';

export type Observation = EventOf<'ObservationEvent'>['observation'];

/** What a tool that the agent answers itself may read. */
export interface OwnToolContext {
  /** The log so far; the action is in it. */
  readonly events: readonly ConversationEvent[];
  /** The action's own event. */
  readonly event: EventOf<'ActionEvent'>;
  /** What a tool needs that works with models or other tools itself. */
  readonly ports: AgentPorts;
  readonly settings: RunSettings;
  readonly signal: AbortSignal;
}

/** Something that the model can call: how it is described to it, and what action its arguments make. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** `kind` of the action. Two tools never share one, but for those of MCP servers. */
  readonly kind: string;
  /** Reads `{...arguments, kind}`; what it does not name is stripped. */
  readonly schema: z.ZodType<AgentAction>;
  /** Builds the action in place of `schema`, for tools of other parties whose arguments may have any name. */
  readonly readArguments?: (args: Record<string, unknown>) => AgentAction;
  /** `false`: an argument `security_risk` is the tool's own. */
  readonly saysRisk?: boolean;
  /** Names that models use for this tool besides its own. */
  readonly aliases?: readonly string[];
  /** It changes nothing, always or with this action: calls of one answer may run beside each other. */
  readonly readOnly?: boolean | ((action: AgentAction) => boolean);
  /** A sub-agent does not have it: the depth is one. */
  readonly makesSubAgents?: boolean;
  /** Present when the agent answers it; absent when the sandbox's tool process does. Rejects with a SlipwayError whose detail is for the model. */
  observe?(action: AgentAction, context: OwnToolContext): Observation | Promise<Observation>;
}

export function isReadOnly(tool: Tool, action: AgentAction): boolean {
  return typeof tool.readOnly === 'function' ? tool.readOnly(action) : tool.readOnly === true;
}

/** What every tool takes besides its own parameters. */
const COMMON = {
  security_risk: {
    type: 'string',
    enum: ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'],
    description: 'How much harm this call could do. LOW only reads; MEDIUM changes the project; HIGH changes the system or sends data out.',
  },
  summary: { type: 'string', description: 'What this call does, in at most ten words.' },
};

/** A tool's description for the model, in JSON Schema, with the parameters that every tool takes. */
export function define(name: string, description: string, properties: Record<string, unknown>, required: readonly string[]): ToolDefinition {
  return { name, description, parameters: { type: 'object', properties: { ...properties, ...COMMON }, required } };
}
