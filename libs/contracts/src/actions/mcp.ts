import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/**
 * A call of a tool of an MCP server. `data` are its arguments, as OpenHands names them; `server` and `tool` are ours.
 */
export const MCPToolAction = z.looseObject({
  kind: z.literal('MCPToolAction'),
  data: z.record(z.string(), z.unknown()).default({}),
  /** As the conversation names the server. */
  server: z.string().default(''),
  /** As the server names it. */
  tool: z.string().default(''),
});
export type MCPToolAction = z.infer<typeof MCPToolAction>;

/** `is_error`: the server says so, or could not be asked; the reason is in `content`. */
export const MCPToolObservation = baseObservation.extend({
  kind: z.literal('MCPToolObservation'),
  /** As the model calls it. */
  tool_name: z.string(),
});
export type MCPToolObservation = z.infer<typeof MCPToolObservation>;

export const MCP_TOOL = {
  action: MCPToolAction,
  observation: MCPToolObservation,
  runsIn: 'agent',
  activity: 'tool-call',
  openhands: { action: ['data'], observation: ['tool_name'] },
} as const satisfies ToolContract;
