/** A stretch of text that is neither code nor quoted, or a stretch of HTML as it stands in the source. */
interface Stretch {
  readonly kind: 'text' | 'html';
  readonly text: string;
}

/** `bare`: nothing stood beside the item's marker. */
type Container =
  | { readonly kind: 'quote' }
  | { readonly kind: 'item'; readonly indent: number; readonly bare: boolean };
type Leaf =
  | { readonly kind: 'none' }
  | { readonly kind: 'paragraph'; readonly lines: string[] }
  | { readonly kind: 'fence'; readonly mark: string; readonly length: number }
  | { readonly kind: 'html'; readonly lines: string[]; readonly end: RegExp };

/** Deeper nesting than users write: nothing below it is read. */
const MAX_DEPTH = 24;
const TAB = 4;
const BLANK_LINE = /^\s*$/;
const BLOCK_TAG =
  /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|$)/i;
const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;

/**
 * What a reader sees as the author's own words: without code blocks, indented code and block quotes, lazy continuation
 * lines included. Follows CommonMark's block structure; where that is ambiguous for so small a parser, it hides rather
 * than shows. Linear in the text.
 */
export function visibleMarkdown(source: string): readonly Stretch[] {
  const reader = new BlockReader();
  for (const line of source.split(/\r\n|[\n\r]/)) if (!reader.take(expandTabs(line))) break;
  reader.close();
  return reader.found;
}

class BlockReader {
  readonly found: Stretch[] = [];
  private stack: Container[] = [];
  private leaf: Leaf = { kind: 'none' };

  /** @returns false when the text is nested too deeply to be read on. */
  take(line: string): boolean {
    // Whether code follows a bare marker or a paragraph is read differently by parsers: then nothing more is shown.
    if (indentOf(line) >= TAB && this.stack.some((container) => container.kind === 'item' && container.bare))
      return false;
    let rest = line;
    let matched = 0;
    for (const container of this.stack) {
      const inner = continued(container, rest);
      if (inner === null) break;
      rest = inner;
      matched++;
    }
    if (matched < this.stack.length) {
      if (this.leaf.kind === 'paragraph' && !BLANK_LINE.test(rest) && opened(rest) === null && !startsBlock(rest)) {
        // Of a bare marker: whether its item goes on is read differently, and with it where code begins and ends.
        // Nothing more is shown.
        if (this.leaf.lines.length === 1 && this.leaf.lines[0] === '') return false;
        this.leaf.lines.push(rest.trimStart());
        return true;
      }
      this.close();
      this.stack = this.stack.slice(0, matched);
    }
    if (this.leaf.kind === 'fence') {
      if (closesFence(rest, this.leaf)) this.close();
      return true;
    }
    if (this.leaf.kind === 'html') {
      this.leaf.lines.push(rest);
      if (this.leaf.end.test(rest)) this.close();
      return true;
    }
    let bare = false;
    for (let next = opened(rest, this.leaf.kind === 'paragraph'); next !== null; next = opened(rest)) {
      this.close();
      bare = next.container.kind === 'item' && next.container.bare;
      if (this.stack.length >= MAX_DEPTH) return false;
      this.stack.push(next.container);
      rest = next.rest;
    }
    // So is whether it is a marker at all, or text that the next line continues.
    if (bare) this.leaf = { kind: 'paragraph', lines: [''] };
    else this.takeLeaf(rest);
    return true;
  }

  close(): void {
    const { leaf } = this;
    const quoted = this.stack.some(({ kind }) => kind === 'quote');
    if (leaf.kind === 'html') this.found.push({ kind: 'html', text: leaf.lines.join('\n') });
    if (leaf.kind === 'paragraph' && !quoted) this.found.push({ kind: 'text', text: leaf.lines.join('\n') });
    this.leaf = { kind: 'none' };
  }

  private takeLeaf(rest: string): void {
    if (BLANK_LINE.test(rest)) {
      this.close();
      return;
    }
    if (indentOf(rest) >= TAB) {
      if (this.leaf.kind === 'paragraph') this.leaf.lines.push(rest.trimStart());
      return;
    }
    const line = rest.trimStart();
    const fence = FENCE.exec(line);
    const end = htmlEnd(line, this.leaf.kind === 'paragraph');
    if (this.leaf.kind === 'paragraph' && /^(=+|-+)\s*$/.test(line)) {
      this.close();
      return;
    }
    if (this.leaf.kind === 'paragraph' && !startsBlock(rest)) {
      this.leaf.lines.push(line);
      return;
    }
    this.close();
    this.leaf = { kind: 'paragraph', lines: [line] };
    if (fence !== null) {
      const marks = (fence[1] ?? fence[2]) as string;
      this.leaf = { kind: 'fence', mark: marks[0] as string, length: marks.length };
    } else if (end !== null) {
      this.leaf = { kind: 'html', lines: [line], end };
      if (end.test(line)) this.close();
    } else if (isHeading(line) || isRule(line)) this.close();
  }
}

const isHeading = (line: string): boolean => /^#{1,6}(\s|$)/.test(line);
const isRule = (line: string): boolean => /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Whether a line cannot continue a paragraph. */
function startsBlock(line: string): boolean {
  return (
    indentOf(line) < TAB &&
    (isHeading(line.trimStart()) ||
      FENCE.test(line.trimStart()) ||
      isRule(line) ||
      htmlEnd(line.trimStart(), true) !== null)
  );
}

/** Where an HTML block that begins with this line ends; `null` when none begins. */
function htmlEnd(line: string, inParagraph: boolean): RegExp | null {
  const raw = /^<(script|pre|style|textarea)(?=[\s>]|$)/i.exec(line);
  if (raw !== null) return /<\/(script|pre|style|textarea)>/i;
  if (line.startsWith('<!--')) return /-->/;
  if (line.startsWith('<?')) return /\?>/;
  if (line.startsWith('<![CDATA[')) return /\]\]>/;
  if (/^<![a-z]/i.test(line)) return />/;
  // Of a block, or a tag alone on its line, which does not break a paragraph: up to a blank line.
  return BLOCK_TAG.test(line) || (!inParagraph && /^<\/?[a-z][^<>]*>\s*$/i.test(line)) ? BLANK_LINE : null;
}

function closesFence(line: string, fence: { readonly mark: string; readonly length: number }): boolean {
  if (indentOf(line) >= TAB) return false;
  const text = line.trim();
  return text.length >= fence.length && text === fence.mark.repeat(text.length);
}

/** The remainder of a line within a container that goes on; `null` when the container ends before it. */
function continued(container: Container, line: string): string | null {
  if (container.kind === 'quote') {
    const match = /^ {0,3}>( ?)/.exec(line);
    return match === null ? null : line.slice(match[0].length);
  }
  if (BLANK_LINE.test(line)) return '';
  return indentOf(line) >= container.indent ? line.slice(container.indent) : null;
}

/** The container that a line begins, and what is left of the line. */
function opened(line: string, inParagraph = false): { readonly container: Container; readonly rest: string } | null {
  if (indentOf(line) >= TAB || isRule(line)) return null;
  const quote = /^ {0,3}>( ?)/.exec(line);
  if (quote !== null) return { container: { kind: 'quote' }, rest: line.slice(quote[0].length) };
  const item = /^( {0,3}(?:[-+*]|(\d{1,9})[.)]))( +|$)/.exec(line);
  if (item === null) return null;
  const [all, marker = '', number, gap = ''] = item;
  const empty = all.length === line.length;
  // An empty item, or a number that is not one, does not break a paragraph.
  if (inParagraph && (empty || (number !== undefined && Number(number) !== 1))) return null;
  const width = empty || gap.length > TAB ? marker.length + 1 : marker.length + gap.length;
  return { container: { kind: 'item', indent: width, bare: empty }, rest: line.slice(width) };
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let out = '';
  for (const char of line) out += char === '\t' ? ' '.repeat(TAB - (out.length % TAB)) : char;
  return out;
}
