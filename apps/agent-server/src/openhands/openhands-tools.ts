import { STANDARD_TOOLS, type Tool } from '@slipway/agent';
import type { StartConversationRequest } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { ACTION_FIELDS } from './openhands-fields.js';

/** Tools that OpenHands has a class for, by the name of their action without `Action`. */
const FAMILIES = new Set(Object.keys(ACTION_FIELDS).map(familyOf));
/** Tools whose actions and observations OpenHands 1.58.0 has classes for, and which themselves it has none for. */
const WITHOUT_CLASS = new Set(['MCPTool', 'Delegate']);
/** Names of sets of tools, and of classes that OpenHands registers tools by. */
const SETS: Readonly<Record<string, RegExp>> = {
  browser_tool_set: /^browser_/,
  task_tool_set: /^task$/,
  DelegateTool: /^delegate$/,
};
/** What an agent has without being asked, by the names of their classes. */
const DEFAULT_CLASSES = ['FinishTool', 'ThinkTool'];

/**
 * The tools that a start asks for, in our order; all standard ones when it names none. A name that is not known here is
 * passed over: the model is not offered what cannot run.
 */
export function toolsOf(
  agent: StartConversationRequest['agent'],
  known: readonly Tool[] = STANDARD_TOOLS,
): readonly Tool[] {
  const { tools, include_default_tools: classes } = agent as { tools?: unknown; include_default_tools?: unknown };
  if (!Array.isArray(tools)) return known;
  const names = tools.map((tool: unknown) => String((tool as { name?: unknown } | null)?.name));
  const defaults = (Array.isArray(classes) ? classes : DEFAULT_CLASSES).map(String);
  return known.filter((tool) => {
    const { name } = tool.definition;
    return (
      names.some(
        (wanted) => wanted === name || tool.aliases?.includes(wanted) === true || SETS[wanted]?.test(name) === true,
      ) || defaults.includes(classOf(tool))
    );
  });
}

/** Which names of tools a start lets through, by its `filter_tools_regex`. @throws SlipwayError `request.invalid` */
export function toolFilter({
  filter_tools_regex: source,
}: StartConversationRequest['agent']): (name: string) => boolean {
  if (source == null || source === '') return () => true;
  try {
    // As Python's `re.match`: from the beginning on.
    const ignoresCase = source.startsWith('(?i)');
    const pattern = new RegExp(`^(?:${ignoresCase ? source.slice(4) : source})`, ignoresCase ? 'i' : '');
    return (name) => pattern.test(name);
  } catch {
    const message = 'is not a regular expression';
    throw new SlipwayError('request.invalid', `agent.filter_tools_regex: ${message}`, {
      fields: [{ path: 'agent.filter_tools_regex', message }],
    });
  }
}

/** Thinking and finishing stay whatever the filter says, as in OpenHands. */
export function filtered(tools: readonly Tool[], agent: StartConversationRequest['agent']): Tool[] {
  const lets = toolFilter(agent);
  return tools.filter((tool) => DEFAULT_CLASSES.includes(classOf(tool)) || lets(tool.definition.name));
}

/**
 * A tool as `SystemPromptEvent` lists it. One unknown to OpenHands is listed as a tool of an MCP server: that class
 * takes any.
 */
export function listedTool(tool: Tool): Record<string, unknown> {
  const { name, description, parameters } = tool.definition;
  const annotations = {
    title: name,
    readOnlyHint: tool.readOnly === true,
    destructiveHint: tool.readOnly !== true,
    idempotentHint: tool.readOnly === true,
    openWorldHint: false,
  };
  const shown = { description, annotations, title: name };
  const family = familyOf(tool.kind);
  if (FAMILIES.has(family) && !WITHOUT_CLASS.has(family))
    return {
      ...shown,
      action_type: tool.kind,
      observation_type: family.startsWith('Browser') ? 'BrowserObservation' : `${family}Observation`,
      kind: classOf(tool),
      // Their classes say the parameters by themselves; other readers of the log have no such class.
      meta: { parameters },
    };
  return {
    ...shown,
    action_type: 'MCPToolAction',
    observation_type: 'MCPToolObservation',
    kind: 'MCPToolDefinition',
    mcp_tool: { name, description, inputSchema: parameters },
  };
}

function familyOf(actionKind: string): string {
  return actionKind.replace(/Action$/, '');
}

function classOf(tool: Tool): string {
  return `${familyOf(tool.kind)}Tool`;
}
