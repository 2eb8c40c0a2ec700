import type { AgentAction } from '@slipway/contracts/actions';
import type { ToolDefinition } from '@slipway/llm';
import type { Tool } from '../ports.js';

export function isReadOnly(tool: Tool, action: AgentAction): boolean {
  return typeof tool.readOnly === 'function' ? tool.readOnly(action) : tool.readOnly === true;
}

/** What every tool takes besides its own parameters. */
const COMMON = {
  security_risk: {
    type: 'string',
    enum: ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'],
    description:
      'How much harm this call could do. LOW only reads; MEDIUM changes the project; HIGH changes the system or sends data out.',
  },
  summary: { type: 'string', description: 'What this call does, in at most ten words.' },
};

/** A tool's description for the model, in JSON Schema, with the parameters that every tool takes. */
export function define(
  name: string,
  description: string,
  properties: Record<string, unknown>,
  required: readonly string[],
): ToolDefinition {
  return { name, description, parameters: { type: 'object', properties: { ...properties, ...COMMON }, required } };
}
