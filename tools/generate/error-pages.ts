import { COMMON_ERRORS, ERRORS, type ErrorCode, type Operation, operations } from '@slipway/contracts';
import { errorsOf } from '@slipway/contracts/openapi';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

/** `docs/errors/<code>.md`: the page that a problem's `type` names, and a list of all. */
export function errorPages(): GeneratedFile[] {
  const rows = Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][];
  return [
    {
      path: 'docs/errors/README.md',
      content: `<!-- ${NOTICE} -->\n# Error codes\n\nEvery failure is a problem document (RFC 9457) whose \`code\` stands here. \`retry: later\` means that the same request may succeed if repeated.\n\n| code | status | what it means | retry |\n|---|---|---|---|\n${rows.map(([code, row]) => `| [\`${code}\`](${code}.md) | ${row.status} | ${row.title} | ${row.retry} |`).join('\n')}\n`,
    },
    ...rows.map(([code, row]) => ({ path: `docs/errors/${code}.md`, content: page(code, row) })),
  ];
}

function page(code: ErrorCode, row: (typeof ERRORS)[ErrorCode]): string {
  const everywhere = (COMMON_ERRORS as readonly ErrorCode[]).includes(code);
  const users = (Object.values(operations) as Operation[]).filter((operation) => errorsOf(operation).includes(code));
  const where = everywhere
    ? 'Every operation can answer it.'
    : users.length === 0
      ? 'It appears in events of a conversation, in a start step, or between services.'
      : `Operations that answer it: ${users.map((operation) => `\`${operation.method} ${operation.path}\``).join(', ')}.`;
  return `<!-- ${NOTICE} -->\n# ${code}\n\n**${row.title}.** HTTP status ${row.status}.\n\n${row.nextStep}\n\n${row.retry === 'later' ? 'The same request may succeed if it is repeated; wait for the time in `Retry-After` when there is one.' : 'Repeating the same request will not help: change something first.'}\n\n${where}\n`;
}
