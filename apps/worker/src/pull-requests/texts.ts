import { harmlessMarkdown, withoutCommands } from '@slipway/integrations';
import { withTemplate } from './pull-request-template.js';

const MAX_SLUG = 40;
const MAX_TITLE = 250;
const MAX_BODY = 20_000;

/** `slipway/<end of the id>-<words of the title>`. */
export function branchName(conversationId: string, title: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replaceAll(/^-+|-+$/g, '');
  return `slipway/${conversationId.slice(-8)}${slug === '' ? '' : `-${slug}`}`;
}

/** One line without controls. */
export function titleOf(text: string): string {
  const line = text.replaceAll(/\p{C}+/gu, ' ').trim();
  return line === '' ? 'Changes' : line.slice(0, MAX_TITLE).toWellFormed();
}

export interface Author {
  readonly name: string;
  readonly email: string;
}

const AGENT: Author = { name: 'Slipway', email: 'agent@slipway.invalid' };

/**
 * Of a commit of two: who asked and the agent, whichever of them is its author. @param other than the author [the
 * agent].
 */
export function commitMessage(title: string, other: Author = AGENT): string {
  return `${titleOf(title)}\n\nCo-authored-by: ${other.name} <${other.email}>\n`;
}

/** Stands in every pull request of ours: deliveries that carry it are our own acts. */
export const markerOf = (conversationId: string): string => `<!-- slipway:${conversationId} -->`;

export interface BodyParts {
  /** Written by the user, unchanged. */
  readonly given: string | undefined;
  /** By the agent. */
  readonly said: string | null;
  /** The repository's own text for pull requests; `null`: it has none. */
  readonly template: string | null;
  /** How it was checked, by what the log says. */
  readonly checked: string;
  /** Issue that the conversation is about. */
  readonly issue: number | null;
  readonly page: string | null;
  readonly conversationId: string;
}

/**
 * The text of a pull request. An agent's text mentions no user, loads nothing, closes no issue and hides nothing. It
 * has the sections of the repository's template, and the commands that the agent ran. A user's text stays theirs, but
 * is posted with the connection's token: no line of it is a command of the host or of another bot.
 */
export function bodyOf({ given, said, template, checked, issue, page, conversationId }: BodyParts): string {
  const link = page === null ? 'Made with Slipway.' : `Made with Slipway: [the conversation](${page}).`;
  const fixes = issue === null ? '' : `Fixes #${issue}`;
  const text =
    given === undefined
      ? withTemplate(template, {
          said: harmlessMarkdown(said ?? '', MAX_BODY, 'the conversation has all of it').trim(),
          checked,
          fixes,
        })
      : [withoutCommands(given).trim(), fixes].filter((part) => part !== '').join('\n\n');
  return [text, `${link}\n${markerOf(conversationId)}`].filter((part) => part !== '').join('\n\n');
}
