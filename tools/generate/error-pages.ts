import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { errorsOf } from '@slipway/contracts/openapi';
import { COMMON_ERRORS, type Operation, operations } from '@slipway/contracts/operations';
import { type GeneratedFile, NOTICE } from './generated-file.ts';
import { prose } from './prose.ts';

/** Most operations that a page lists: beyond it the list says nothing about the error. */
const MAX_OPERATIONS = 10;

const REPEAT = 'The same request may succeed if it is repeated. Wait for the time in `Retry-After` when there is one.';
const NO_REPEAT = 'Repeating the same request will not help: change something first.';

/** `docs/errors/<code>.md`: the page that a problem's `type` names, and a list of all. */
export function errorPages(): GeneratedFile[] {
  const rows = Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][];
  const list = rows.map(([code, row]) => `| [\`${code}\`](${code}.md) | ${row.status} | ${row.title} | ${row.retry} |`);
  const index = [
    `<!-- ${NOTICE} -->\n# Error codes`,
    prose(
      'For whoever calls the API or reads a log. Every failure is a problem document (RFC 9457) with one of these codes as its `code`.',
    ),
    prose('`retry: later` means that the same request may succeed if repeated.'),
    `| code | status | what it means | retry |\n|---|---|---|---|\n${list.join('\n')}`,
    'See also: [the REST reference](../api/README.md), [architecture](../architecture.md).',
  ];
  return [
    { path: 'docs/errors/README.md', content: `${index.join('\n\n')}\n` },
    ...rows.map(([code, row]) => ({ path: `docs/errors/${code}.md`, content: page(code, row) })),
  ];
}

function page(code: ErrorCode, row: (typeof ERRORS)[ErrorCode]): string {
  const paragraphs = [
    `<!-- ${NOTICE} -->\n# \`${code}\``,
    prose(`**${row.title}.** HTTP status ${row.status}.`),
    prose(row.nextStep),
    prose(row.retry === 'later' ? REPEAT : NO_REPEAT),
    where(code),
    'See also: [all error codes](README.md), [the REST reference](../api/README.md).',
  ];
  return `${paragraphs.join('\n\n')}\n`;
}

function where(code: ErrorCode): string {
  if ((COMMON_ERRORS as readonly ErrorCode[]).includes(code)) return 'Every operation can answer it.';
  const users = (Object.values(operations) as Operation[]).filter((operation) => errorsOf(operation).includes(code));
  if (users.length === 0) return 'It appears in events of a conversation, in a start step, or between services.';
  const listed = users.slice(0, MAX_OPERATIONS).map((operation) => `- \`${operation.method} ${operation.path}\``);
  const more = users.length - listed.length;
  return `Operations that answer it:\n\n${listed.join('\n')}${more > 0 ? `\n\nand ${more} more.` : ''}`;
}
