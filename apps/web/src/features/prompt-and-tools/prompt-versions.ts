import type { LoggedEvent } from '@slipway/contracts/events';
import type { Translate } from '../../messages/translate.ts';

/** One parameter of a tool, as far as its schema says it in words. */
export interface ToolParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** A tool as the model was offered it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** `null` where the log does not say them. */
  readonly parameters: readonly ToolParameter[] | null;
}

/** Prompt and tools of the model from one event until the next. */
export interface PromptVersion {
  readonly seq: number;
  readonly at: string;
  readonly prompt: string;
  readonly tools: readonly OfferedTool[];
  /** What is other than before, in words; empty for the first of those that are known. */
  readonly change: string;
}

/** The versions that these events hold, the newest first. */
export function promptVersions(t: Translate, events: readonly LoggedEvent[]): readonly PromptVersion[] {
  const versions: PromptVersion[] = [];
  for (const { seq, event } of events) {
    if (event.kind !== 'SystemPromptEvent') continue;
    const version = { seq, at: event.timestamp, prompt: event.system_prompt.text, tools: event.tools.map(offeredTool) };
    const before = versions[0];
    versions.unshift({ ...version, change: before === undefined ? '' : changeOf(t, before, version) });
  }
  return versions;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of what an agent, ours or another, has listed: nothing about it is certain. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function offeredTool(listed: unknown): OfferedTool {
  const tool = fieldsOf(listed);
  const ofServer = fieldsOf(tool['mcp_tool']);
  const names = [tool['title'], ofServer['name'], fieldsOf(tool['annotations'])['title'], tool['name'], tool['kind']];
  const name = names.find((each): each is string => typeof each === 'string' && each !== '') ?? 'without a name';
  const description = [tool['description'], ofServer['description']].find((each) => typeof each === 'string') ?? '';
  return {
    name,
    description,
    parameters: parametersOf(ofServer['inputSchema'] ?? fieldsOf(tool['meta'])['parameters']),
  };
}

function parametersOf(schema: unknown): readonly ToolParameter[] | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const { properties, required } = schema as Fields;
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(fieldsOf(properties)).map(([name, value]) => {
    const { description } = fieldsOf(value);
    return {
      name,
      type: typeOf(value),
      required: needed.includes(name),
      description: typeof description === 'string' ? description : '',
    };
  });
}

/** Deepest that a schema is followed for the words of its type. */
const MAX_DEPTH = 4;
/** Most values of a choice that are named. */
const MAX_VALUES = 8;

/** `string`, `string[]`, `"a" | "b"`: a schema's type as a user reads it. */
function typeOf(schema: unknown, depth = 0): string {
  const { type, items, enum: values, const: only, anyOf, oneOf } = fieldsOf(schema);
  if (Array.isArray(values))
    return (
      values
        .slice(0, MAX_VALUES)
        .map((value) => JSON.stringify(value))
        .join(' | ') + (values.length > MAX_VALUES ? ' | …' : '')
    );
  if (only !== undefined) return JSON.stringify(only);
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices) && depth < MAX_DEPTH)
    return [...new Set(choices.slice(0, MAX_VALUES).map((choice) => typeOf(choice, depth + 1)))].join(' | ');
  if (type === 'array') return depth < MAX_DEPTH && items !== undefined ? `${typeOf(items, depth + 1)}[]` : 'array';
  return Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any';
}

/** Most tools that a change names. */
const MAX_NAMED = 3;

function changeOf(t: Translate, before: Omit<PromptVersion, 'change'>, now: Omit<PromptVersion, 'change'>): string {
  const old = new Map(before.tools.map((tool) => [tool.name, JSON.stringify(tool)]));
  const names = new Set(now.tools.map((tool) => tool.name));
  const parts = [
    before.prompt === now.prompt ? '' : t('promptAndTools.promptChanged'),
    counted(
      t,
      'added',
      now.tools.filter((tool) => !old.has(tool.name)),
    ),
    counted(
      t,
      'removed',
      before.tools.filter((tool) => !names.has(tool.name)),
    ),
    counted(
      t,
      'changed',
      now.tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== JSON.stringify(tool)),
    ),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function counted(t: Translate, how: 'added' | 'changed' | 'removed', tools: readonly OfferedTool[]): string {
  if (tools.length === 0) return '';
  const named = tools.slice(0, MAX_NAMED).map((tool) => tool.name);
  return t('promptAndTools.toolsChanged', {
    count: tools.length,
    how,
    names: `${named.join(', ')}${tools.length > MAX_NAMED ? '…' : ''}`,
  });
}
