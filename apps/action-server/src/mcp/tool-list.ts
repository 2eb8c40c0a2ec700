import { createHash } from 'node:crypto';
import {
  MAX_MCP_DESCRIPTION,
  MAX_MCP_SCHEMA,
  MAX_MCP_TOOLS,
  MAX_TOOL_NAME,
  type McpTool,
} from '@slipway/contracts/agent';

/** Most tools of one server that are read. */
export const MAX_LISTED_TOOLS = 1_000;
/** Deepest schema that is handed on: providers refuse deeper ones, and every reader of it is recursive. */
const MAX_DEPTH = 24;
/** What all tools of a conversation may take of the prompt together. UTF-16 code units. */
const MAX_TOGETHER = 200_000;
/** Longest part of a server's name in the name of its tools. */
const MAX_PREFIX = 24;
/**
 * What steers a terminal or hides text from who reads along: control characters, changes of direction, tags, what has
 * no width.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;

/** A tool of one server, cleaned; its name for the model is given by `nameTools`. */
export type CleanTool = Pick<McpTool, 'tool' | 'description' | 'inputSchema'>;

/**
 * What a server says its tools are, as far as a model can be given it. Each that cannot is in `dropped` with the
 * reason.
 */
export function cleanTools(listed: readonly unknown[]): { tools: CleanTool[]; dropped: string[] } {
  const tools: CleanTool[] = [];
  const dropped: string[] = [];
  const seen = new Set<string>();
  for (const raw of listed) {
    const { name, description, inputSchema } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<
      string,
      unknown
    >;
    if (typeof name !== 'string' || name.trim() === '' || name.length > 1_000)
      dropped.push('a tool without a usable name');
    else if (seen.has(name)) dropped.push(`${shown(name)}: its name is there twice`);
    else {
      seen.add(name);
      const schema = schemaOf(inputSchema);
      if (typeof schema === 'string') dropped.push(`${shown(name)}: ${schema}`);
      else tools.push({ tool: name, description: describe(description), inputSchema: schema });
    }
  }
  return { tools, dropped };
}

/**
 * The tools of all servers by the names that the model calls them by: `<server>_<tool>`, each name once. The order of
 * the servers and of their tools decides who is left out when there is no room for all.
 */
export function nameTools(servers: ReadonlyArray<{ readonly name: string; readonly tools: readonly CleanTool[] }>): {
  tools: McpTool[];
  left: Map<string, string[]>;
} {
  const tools: McpTool[] = [];
  const left = new Map<string, string[]>();
  const taken = new Set<string>();
  let size = 0;
  for (const { name: server, tools: own } of servers) {
    for (const tool of own) {
      const length = tool.description.length + JSON.stringify(tool.inputSchema).length;
      if (tools.length >= MAX_MCP_TOOLS || size + length > MAX_TOGETHER) {
        left.set(server, [...(left.get(server) ?? []), `${shown(tool.tool)}: there is no room for more tools`]);
        continue;
      }
      size += length;
      const name = nameOf(server, tool.tool, taken);
      taken.add(name);
      tools.push({ name, server, ...tool });
    }
  }
  return { tools, left };
}

function nameOf(server: string, tool: string, taken: ReadonlySet<string>): string {
  const prefix = plain(server).slice(0, MAX_PREFIX) || 'mcp';
  const whole = `${prefix}_${plain(tool)}`;
  // What was lost of a name, and whose name is another's too, shows in four characters that are always the same.
  const exact = whole.length <= MAX_TOOL_NAME && plain(tool) === tool && plain(server) === server;
  const mark = createHash('sha256').update(`${server}\0${tool}`).digest('hex');
  let name = exact ? whole : `${whole.slice(0, MAX_TOOL_NAME - 5)}_${mark.slice(0, 4)}`;
  for (let length = 6; taken.has(name); length += 2)
    name = `${whole.slice(0, MAX_TOOL_NAME - length - 1)}_${mark.slice(0, length)}`;
  return name;
}

function plain(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, 1_000)
    .replaceAll(/^_+|_+$/g, '');
}

function describe(description: unknown): string {
  const text = typeof description === 'string' ? visible(description.slice(0, 4 * MAX_MCP_DESCRIPTION)) : '';
  return text.length <= MAX_MCP_DESCRIPTION ? text : `${text.slice(0, MAX_MCP_DESCRIPTION - 20)} [… cut here …]`;
}

/** Providers take no other name of an argument. */
const ARGUMENT = /^[A-Za-z0-9_.-]{1,64}$/;

const unhidden = (text: string): string =>
  text.replaceAll(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ' '));
const visible = (text: string): string => unhidden(text).trim();

const shown = (name: string): string => visible(name).slice(0, 80) || 'a tool';

/** The schema as providers take it, or a sentence that says why they would not. */
function schemaOf(schema: unknown): Record<string, unknown> | string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return 'it does not say what its arguments are';
  const fault = faultIn(schema, 0);
  if (fault !== null) return fault;
  const { type, properties, required, $defs, definitions, additionalProperties } = schema as Record<string, unknown>;
  if (type !== undefined && type !== 'object') return 'its arguments are no object';
  const known =
    typeof properties === 'object' && properties !== null && !Array.isArray(properties)
      ? (properties as Record<string, unknown>)
      : {};
  const strange = Object.keys(known).find((name) => !ARGUMENT.test(name));
  if (strange !== undefined) return `no provider takes the name of its argument ${JSON.stringify(shown(strange))}`;
  // Providers refuse an object of alternatives; the server validates the arguments itself.
  const bounded = {
    type: 'object',
    properties: known,
    ...(Array.isArray(required)
      ? { required: required.filter((name) => typeof name === 'string' && Object.hasOwn(known, name)) }
      : {}),
    ...(typeof $defs === 'object' && $defs !== null ? { $defs } : {}),
    ...(typeof definitions === 'object' && definitions !== null ? { definitions } : {}),
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  };
  const text = JSON.stringify(bounded);
  if (text.length > MAX_MCP_SCHEMA) return `the schema of its arguments is larger than ${MAX_MCP_SCHEMA} characters`;
  const clean: unknown = JSON.parse(text, (_key, value) => (typeof value === 'string' ? unhidden(value) : value));
  return clean as Record<string, unknown>;
}

function faultIn(value: unknown, depth: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return 'the schema of its arguments is too deep';
  const { $ref } = value as { $ref?: unknown };
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return 'the schema of its arguments is in another document';
  for (const item of Object.values(value)) {
    const fault = faultIn(item, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}
