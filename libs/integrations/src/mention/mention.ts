import { visibleProse } from './visible-inline.js';
import { visibleMarkdown } from './visible-markdown.js';
import { visibleMrkdwn, visibleWiki } from './visible-other.js';

/** How a provider's texts are written. */
export type Syntax = 'markdown' | 'mrkdwn' | 'wiki';

export interface Addressee {
  /** Without `@`. */
  readonly name: string;
  /** Ids by which the provider itself writes a mention (Slack, Jira). */
  readonly ids: readonly string[];
}

/**
 * What a text asks of us. `quoted`: it names us only in code, a quote, a URL or hidden text, and asks for nothing.
 * `stop`, `mute`: nothing but such a command beside the mention, or the command by itself.
 */
export type Address = 'mention' | 'stop' | 'mute' | 'quoted' | 'none';

/**
 * Longest text that is searched, in characters; GitHub's longest comment. What follows is the author's words too, but
 * addresses no agent.
 */
const MAX_SEARCHED = 65_536;
const STOP = new Set(['stop', 'cancel', 'abort', 'halt', 'please stop', 'stop please']);
const MUTE = new Set(['ignore', 'mute']);

const VISIBLE: Readonly<Record<Syntax, (text: string) => string[]>> = {
  markdown: (text) => visibleProse(visibleMarkdown(text)),
  mrkdwn: visibleMrkdwn,
  wiki: visibleWiki,
};

/** Linear in the text, whatever stands in it. */
export function addressOf(text: string, syntax: Syntax, addressee: Addressee): Address {
  const searched = text.slice(0, MAX_SEARCHED);
  const pattern = mentionPattern(syntax, addressee);
  const command = commandPattern(addressee.name);
  // Most texts do not name us at all: those are not parsed.
  if (!pattern.test(searched) && !command.test(searched)) return 'none';
  const prose = VISIBLE[syntax](searched).join('\n\n');
  const slash = command.exec(prose);
  if (slash !== null) return MUTE.has((slash[1] as string).toLowerCase()) ? 'mute' : 'stop';
  const rest = prose.replace(new RegExp(pattern.source, `${pattern.flags}g`), ' ');
  if (rest === prose) return 'quoted';
  return commandOf(rest) ?? 'mention';
}

/** A reply that needs no mention may still be a command. */
export function commandOf(text: string): 'stop' | 'mute' | null {
  if (text.length > MAX_SEARCHED) return null;
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, 4)
    .join(' ');
  return STOP.has(words) ? 'stop' : MUTE.has(words) ? 'mute' : null;
}

/**
 * Not within a word, a path or an e-mail address, before or after. Slack writes every mention by id, so `@name` there
 * is but text.
 */
function mentionPattern(syntax: Syntax, { name, ids }: Addressee): RegExp {
  const literal = `(?<![\\p{L}\\p{N}\\p{M}_@/.+#=&?%$~\\\\-])@${escaped(name)}(?:\\[bot\\])?(?![\\p{L}\\p{N}\\p{M}_@/-]|[.:+~]+[\\p{L}\\p{N}_@/-])`;
  // Never an empty alternative: it would match anybody.
  const any = (values: readonly string[]): string =>
    values
      .filter((value) => value !== '')
      .map(escaped)
      .join('|') || '(?!)';
  switch (syntax) {
    case 'markdown':
      return new RegExp(literal, 'iu');
    case 'mrkdwn':
      return new RegExp(`<@(?:${any(ids)})(?:\\|[^<>]{0,200})?>`, 'iu');
    case 'wiki':
      return new RegExp(`${literal}|\\[~(?:accountid:)?(?:${any([...ids, name])})\\]`, 'iu');
  }
}

const commandPattern = (name: string): RegExp =>
  new RegExp(`^[ \\t]*/(?:slipway|${escaped(name)})[ \\t]+(ignore|mute|stop|cancel)[ \\t]*[.!]?[ \\t]*$`, 'imu');
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
