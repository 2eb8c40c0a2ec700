import { parseSync } from 'oxc-parser';

/**
 * Where the header may be written by hand: the types of the wire, the browser, its client, and what runs in a sandbox,
 * where no tracer is ever.
 */
const MAY_WRITE = /^(libs\/(contracts|telemetry|api-client|agent|llm)|apps\/(web|agent-server|action-server))\//;
const HEADERS = /headers?$/i;
/** Methods that take a header's name first: of Node, Fastify, undici and `Headers`. */
const SETTERS: ReadonlySet<string> = new Set(['set', 'append', 'setHeader', 'addHeader', 'header']);

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * Why a source may not write `traceparent` as it does; `null` when it writes none. A header is written by
 * `traceHeaders` of libs/telemetry alone: beside a tracer's, a second one breaks the trace. A row or a body may carry
 * the value, which `currentTraceparent` makes.
 */
export function writtenTraceHeader(file: string, source: string): string | null {
  if (MAY_WRITE.test(file)) return null;
  if (/`00-\$\{/.test(source))
    return 'makes a traceparent of its own; take currentTraceparent or traceHeaders of @slipway/telemetry';
  if (!source.includes('traceparent')) return null;
  return writes(parseSync(file, source).program as unknown as Node, false)
    ? 'writes the traceparent header; spread traceHeaders() of @slipway/telemetry'
    : null;
}

function writes(node: Node, inHeaders: boolean): boolean {
  if (node.type === 'Property' && inHeaders && nameOf(node['key']) === 'traceparent') return true;
  if (node.type === 'AssignmentExpression' && isHeader(node['left'] as Node)) return true;
  if (
    node.type === 'CallExpression' &&
    SETTERS.has(nameOf(node['callee'])) &&
    nameOf((node['arguments'] as Node[])[0]) === 'traceparent'
  )
    return true;
  const within = inHeaders || HEADERS.test(nameOf(node['key'] ?? node['id']));
  return Object.values(node)
    .flat()
    .some(
      (child) =>
        typeof child === 'object' &&
        child !== null &&
        'type' in child &&
        writes(child as Node, within && !isType(child as Node)),
    );
}

/** `headers.traceparent` and `headers['traceparent']`. */
function isHeader(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    nameOf(node['property']) === 'traceparent' &&
    HEADERS.test(nameOf(node['object']))
  );
}

function isType(node: Node): boolean {
  return node.type.startsWith('TS') && node.type !== 'TSAsExpression' && node.type !== 'TSSatisfiesExpression';
}

/** Of an identifier, a text, or what is last in a chain. */
function nameOf(node: unknown): string {
  const { name, value, property } = (node ?? {}) as { name?: unknown; value?: unknown; property?: unknown };
  if (typeof name === 'string') return name;
  if (typeof value === 'string') return value;
  return property === undefined ? '' : nameOf(property);
}
