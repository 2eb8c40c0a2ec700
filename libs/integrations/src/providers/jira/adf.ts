import { own } from '../../reading/reading.js';

/** What a document in Atlassian's format says. */
export interface DocumentText {
  readonly text: string;
  /** The same without code and quotes: where a mention counts. Mentions stand in it as in wiki markup. */
  readonly prose: string;
}

/** A document of a user has far less of each; what is beyond is not read. */
const MAX_DEPTH = 40;
const MAX_NODES = 20_000;
const MAX_TEXT = 262_144;
const BLOCKS = new Set([
  'paragraph',
  'heading',
  'codeBlock',
  'blockquote',
  'listItem',
  'panel',
  'tableRow',
  'hardBreak',
  'rule',
  'expand',
  'taskItem',
]);
const NO_PROSE = new Set(['codeBlock', 'blockquote', 'inlineCard', 'blockCard', 'media']);

/** Never throws, whatever the JSON. */
export function documentText(document: unknown): DocumentText {
  const out = { text: '', prose: '', nodes: 0 };
  const add = (piece: string, prose: boolean): void => {
    if (out.text.length + piece.length > MAX_TEXT) return;
    out.text += piece;
    // What is hidden parts what is left of it from what is right.
    out.prose += prose ? piece : piece.replace(/[^\n]/g, ' ');
  };
  const walk = (node: unknown, depth: number, prose: boolean): void => {
    if (depth > MAX_DEPTH || out.nodes >= MAX_NODES) return;
    out.nodes++;
    const type = own(node, 'type');
    const attrs = own(node, 'attrs');
    const seen = prose && !(typeof type === 'string' && NO_PROSE.has(type));
    const text = own(node, 'text');
    if (type === 'text' && typeof text === 'string') add(text, seen && !hasCode(own(node, 'marks')));
    const account = own(attrs, 'id');
    if (type === 'mention' && typeof account === 'string' && account.length <= 200)
      add(`[~accountid:${account}]`, seen);
    const link = own(attrs, 'url');
    if (type === 'inlineCard' && typeof link === 'string') add(link.slice(0, 2_000), false);
    const content = own(node, 'content');
    if (Array.isArray(content)) for (const child of content) walk(child, depth + 1, seen);
    if (typeof type === 'string' && BLOCKS.has(type)) add('\n', seen);
  };
  walk(document, 0, true);
  return { text: out.text.trimEnd(), prose: out.prose };
}

function hasCode(marks: unknown): boolean {
  return Array.isArray(marks) && marks.some((mark) => own(mark, 'type') === 'code');
}
