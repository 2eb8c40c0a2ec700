import { z } from 'zod';
import { MCPToolObservation } from '../actions/mcp.js';

/**
 * Tool servers of the Model Context Protocol, as a conversation is started with them and as action-server runs them.
 */

/** Most servers of one conversation. */
export const MAX_CONVERSATION_MCP_SERVERS = 100;
/** Most tools of all its servers together: providers take about 128 in all. */
export const MAX_MCP_TOOLS = 100;
/** Longest name of a tool that every provider takes. */
export const MAX_TOOL_NAME = 64;
/** Longest description of a tool that the model is given. UTF-16 code units. */
export const MAX_MCP_DESCRIPTION = 4_000;
/** Largest schema of a tool's arguments. UTF-16 code units of JSON. */
export const MAX_MCP_SCHEMA = 32_000;

/** Made when it is first needed: a sandbox whose conversation has no servers holds none of it. */
const later = <T extends z.ZodType>(make: () => T) => {
  let made: T | undefined;
  return z.lazy(() => {
    made ??= make();
    return made;
  });
};

const text = z.string().max(8_192);
const texts = later(() =>
  z
    .record(z.string().min(1).max(200), text)
    .refine((record) => Object.keys(record).length <= 100, 'has at most 100 entries'),
);

/** Authentication at a remote server. `oauth2` needs a user and a browser: such a server is reported as unreachable. */
export const McpAuth = later(() =>
  z.union([
    z.looseObject({ strategy: z.literal('none') }),
    z.looseObject({
      strategy: z.literal('api_key'),
      value: text.nullish(),
      header_name: z.string().max(100).nullish(),
    }),
    z.looseObject({ strategy: z.literal('bearer'), value: text.nullish() }),
    z.looseObject({ strategy: z.literal('basic'), username: text, password: text.nullish() }),
    z.looseObject({ strategy: z.literal('header'), headers: texts.default({}) }),
    z.looseObject({ strategy: z.literal('oauth2') }),
    // As fastmcp has it: a token for the header, or the word `oauth`.
    text,
  ]),
);

/**
 * OpenHands' `MCPServer`. `${NAME}` in its texts is the secret or variable of that name; `${NAME:-other}` has something
 * in its place.
 */
const serverConfig = () =>
  z.looseObject({
    transport: z.enum(['stdio', 'http', 'streamable-http', 'shttp', 'sse']).nullish(),
    command: z.string().min(1).max(1_000).nullish(),
    args: z.array(text).max(200).nullish(),
    env: texts.nullish(),
    cwd: z.string().max(4_096).nullish(),
    url: z.string().min(1).max(2_048).nullish(),
    headers: texts.nullish(),
    auth: McpAuth.nullish(),
    /** Longest call of a tool. Seconds. */
    timeout: z.number().positive().max(3_600).nullish(),
    enabled: z.boolean().default(true),
  });
export const McpServerConfig = later(serverConfig);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

const servers = later(() =>
  z
    .record(z.string().min(1).max(200), McpServerConfig)
    .refine(
      (record) => Object.keys(record).length <= MAX_CONVERSATION_MCP_SERVERS,
      `has at most ${MAX_CONVERSATION_MCP_SERVERS} servers`,
    ),
);

/** `agent.mcp_config` of a start: a map by name, as such or under `mcpServers`. */
export const McpConfig = later(() =>
  z.union([z.object({ mcpServers: servers }).transform(({ mcpServers }) => mcpServers), servers]),
);
export type McpConfig = z.output<typeof McpConfig>;

/** A tool of a server, cleaned and bounded. */
export const McpTool = later(() =>
  z.object({
    /** As the model calls it: `<server>_<tool>`, of letters, digits, `_` and `-`. */
    name: z.string().max(MAX_TOOL_NAME),
    server: z.string(),
    /** As the server names it. */
    tool: z.string(),
    description: z.string(),
    /** JSON Schema of the arguments, an object's. */
    inputSchema: z.record(z.string(), z.unknown()),
  }),
);
export type McpTool = z.infer<typeof McpTool>;

/** How a server is doing. */
export const McpServerState = later(() =>
  z.object({
    name: z.string(),
    /**
     * `connecting` for the first time, `ready`, `failed` (tried again by itself, later and later), `off` (it is never
     * tried: its settings keep it from it).
     */
    state: z.enum(['connecting', 'ready', 'failed', 'off']),
    /** Why it failed, and what to do: sentences for a user and for the agent. */
    reason: z.string().optional(),
    nextStep: z.string().optional(),
    /** How many of its tools the agent has. */
    tools: z.int().nonnegative(),
    /** Its tools that the agent does not get, each with the reason. The first twenty. */
    dropped: z.array(z.string()).default([]),
  }),
);
export type McpServerState = z.infer<typeof McpServerState>;

/**
 * Value of the state update `mcp_servers`, when a server came, went or changed. `told` is the text for the agent's
 * model, which reads it with its next answer.
 */
export const McpServersUpdate = later(() =>
  z.looseObject({ servers: z.array(McpServerState), told: z.string().default('') }),
);
export type McpServersUpdate = z.infer<typeof McpServersUpdate>;

/**
 * `PUT /mcp/servers?set=`: the servers of a conversation, in place of those of before. The answer comes before any is
 * reached.
 */
export const McpServersRequest = later(() => z.object({ servers, cwd: z.string().max(4_096) }));
export type McpServersRequest = z.infer<typeof McpServersRequest>;
/** `GET /mcp/tools?set=&after=`: answers when `revision` is another than `after`, or after some seconds. */
export const McpToolsResponse = later(() =>
  z.object({ revision: z.int(), servers: z.array(McpServerState), tools: z.array(McpTool) }),
);
export type McpToolsResponse = z.infer<typeof McpToolsResponse>;
/** `POST /mcp/call?set=`: closing the request cancels the call. */
export const McpCallRequest = later(() =>
  z.object({
    name: z.string().max(MAX_TOOL_NAME),
    server: z.string(),
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    /** Whoever knows it may ask for the progress of the call. */
    call: z.string().max(100).optional(),
  }),
);
export type McpCallRequest = z.infer<typeof McpCallRequest>;
export const McpCallResponse = later(() => z.object({ observation: MCPToolObservation }));
export type McpCallResponse = z.infer<typeof McpCallResponse>;
/**
 * `GET /mcp/progress?set=&call=&after=`: the server's progress of a call beyond the first `after` code units, when
 * there is more, or after some seconds.
 */
export const McpProgressResponse = later(() => z.object({ text: z.string(), over: z.boolean() }));
export type McpProgressResponse = z.infer<typeof McpProgressResponse>;

/**
 * `POST /mcp/test`, and OpenHands' `POST /api/mcp/test`: reaches a server once, lists its tools and calls one of them
 * if asked to.
 */
export const McpTestRequest = later(() =>
  z.looseObject({
    name: z.string().min(1).max(128).default('test-server'),
    server: serverConfig().extend({ type: z.enum(['stdio', 'http', 'shttp', 'streamable-http', 'sse']).nullish() }),
    /** Seconds. */
    timeout: z.number().positive().max(120).default(15),
    tool_call: z
      .looseObject({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) })
      .nullish(),
  }),
);
export type McpTestRequest = z.infer<typeof McpTestRequest>;
export const McpTestResponse = later(() =>
  z.union([
    z.object({
      ok: z.literal(true),
      tools: z.array(z.string()),
      tool_result: z.object({ is_error: z.boolean(), text: z.string() }).nullable(),
    }),
    z.object({ ok: z.literal(false), error: z.string(), error_kind: z.enum(['timeout', 'connection', 'unknown']) }),
  ]),
);
export type McpTestResponse = z.infer<typeof McpTestResponse>;
