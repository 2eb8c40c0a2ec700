import type { MCPToolObservation } from '@slipway/contracts/actions';
import { CellOutput } from '../ipython/cell-output.js';
import type { ToolAnswer } from './connection.js';

/** Most parts of an answer that are read. */
const MAX_PARTS = 1_000;
/** How a picture begins, by what it says it is: providers refuse a whole conversation for one that is none. */
const PICTURES: Readonly<Record<string, RegExp>> = {
  'image/png': /^iVBORw0KGgo/,
  'image/jpeg': /^\/9j\//,
  'image/gif': /^R0lGOD/,
  'image/webp': /^UklGR/,
};

/**
 * What a tool answered, for the model: its text as a terminal's, with the whole in a file where it is long; its
 * pictures as long as there is room.
 */
export function observationOf(name: string, answer: ToolAnswer, output: CellOutput): MCPToolObservation {
  for (const part of answer.content.slice(0, MAX_PARTS)) put(part, output);
  if (answer.content.length > MAX_PARTS) line(output, `[${answer.content.length - MAX_PARTS} more parts are left out]`);
  if (answer.content.length === 0 && answer.structuredContent !== undefined)
    line(output, json(answer.structuredContent));
  const { text, pictures } = output.take();
  return {
    kind: 'MCPToolObservation',
    tool_name: name,
    is_error: answer.isError === true,
    content: [{ type: 'text', text }, ...pictures],
  };
}

/** A call that has no answer. */
export function failedCall(name: string, text: string): MCPToolObservation {
  return { kind: 'MCPToolObservation', tool_name: name, is_error: true, content: [{ type: 'text', text }] };
}

function put(part: unknown, output: CellOutput): void {
  const { type, text, data, mimeType, resource, uri, name } = (
    typeof part === 'object' && part !== null ? part : {}
  ) as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') line(output, text);
  else if (type === 'image' && typeof data === 'string') picture(mimeType, data, output);
  else if (type === 'resource_link') line(output, `[a link to ${short(name)}: ${short(uri)}]`);
  else if (type === 'resource' && typeof resource === 'object' && resource !== null) {
    const { uri: of, text: content, blob, mimeType: kind } = resource as Record<string, unknown>;
    if (typeof content === 'string') line(output, `[${short(of)}]\n${content}`);
    else if (typeof blob === 'string' && typeof kind === 'string' && Object.hasOwn(PICTURES, kind))
      picture(kind, blob, output);
    else
      line(
        output,
        `[${short(of)}: ${typeof blob === 'string' ? `${bytesOf(blob)} bytes of ${short(kind)}` : 'nothing that can be shown'}]`,
      );
  } else
    line(
      output,
      `[a part of kind ${short(type)} that cannot be shown${typeof data === 'string' ? `, ${bytesOf(data)} bytes` : ''}]`,
    );
}

function picture(kind: unknown, data: string, output: CellOutput): void {
  const base64 = data.replaceAll(/\s+/g, '');
  const begins = typeof kind === 'string' && Object.hasOwn(PICTURES, kind) ? PICTURES[kind] : undefined;
  if (begins?.test(base64) === true && /^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    output.display({ [kind as string]: base64 });
  else line(output, `[a picture of ${short(kind)} that cannot be shown]`);
}

function line(output: CellOutput, text: string): void {
  output.text(text.endsWith('\n') ? text : `${text}\n`);
}

const short = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 300) : 'something');
const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4);

function json(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? '';
  } catch {
    return '[an answer that is too deep to be shown]';
  }
}
