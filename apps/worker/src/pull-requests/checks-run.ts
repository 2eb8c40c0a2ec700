import type { PoolClient } from '@slipway/db/sql';
import { harmlessMarkdown, maskedText } from '@slipway/integrations';

/** A command of the agent, as its observation has it. */
export interface CommandRun {
  readonly command: string;
  /** `null`: it was not over when the agent went on, or was killed. */
  readonly exitCode: number | null;
}

/** How far back the last turn of an agent is searched. Events. */
const LOOKED_BACK = 1_000;
const MAX_READ = 200;
/** Commands of a pull request. The newest say most. */
const MAX_SHOWN = 12;
const MAX_COMMAND = 160;

/** What the agent ran since it was last spoken to, oldest first; of a longer turn its last 200 commands. */
export async function readCommands(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<readonly CommandRun[]> {
  const { rows } = await client.query<{ command: string | null; exit_code: string | null; timeout: string | null }>({
    name: 'read-commands-of-turn',
    text: `WITH conversation AS (SELECT id, head FROM app.conversation WHERE org_id = $1 AND id = $2),
             turn AS (SELECT max(e.seq) AS begun FROM conversation c JOIN app.event e ON e.conversation_id = c.id AND e.seq > c.head - $3
                      WHERE e.kind = 'MessageEvent' AND e.event ->> 'source' = 'user')
           SELECT left(e.event -> 'observation' ->> 'command', 4000) AS command, left(e.event -> 'observation' ->> 'exit_code', 20) AS exit_code,
             e.event -> 'observation' ->> 'timeout' AS timeout
           FROM conversation c, turn t, app.event e
           WHERE e.conversation_id = c.id AND e.seq > coalesce(t.begun, c.head - $3) AND e.kind = 'ObservationEvent'
             AND e.event -> 'observation' ->> 'kind' = 'TerminalObservation'
           ORDER BY e.seq DESC LIMIT $4`,
    values: [orgId, conversationId, LOOKED_BACK, MAX_READ],
  });
  return rows.toReversed().flatMap(({ command, exit_code, timeout }) => {
    if (command === null || command.trim() === '') return [];
    const exitCode = exit_code !== null && /^\d{1,9}$/.test(exit_code) && timeout !== 'true' ? Number(exit_code) : null;
    return [{ command, exitCode }];
  });
}

/** Programs that read or move files, and check nothing. */
const LOOKING =
  /^(?:ls|ll|cat|cd|pwd|echo|printf|head|tail|less|more|grep|rg|ag|find|fd|wc|tree|which|type|file|stat|sed|awk|sort|uniq|cut|tee|env|export|source|date|whoami|true|sleep|mkdir|touch|cp|mv|rm|chmod|git (?:status|diff|log|show|branch|blame|ls-files|rev-parse|remote|fetch|stash|add|commit|checkout|switch|restore|config|rm|mv))(?=\s|$)/;
const HERE_DOCUMENT = /<<-?[ \t]*['"]?(\w{1,40})/;

/** Without the texts that it hands to programs. Line by line: an agent may write anything. */
function withoutHereDocuments(command: string): string {
  const kept: string[] = [];
  let end: string | null = null;
  for (const line of command.split('\n')) {
    if (end === null) {
      kept.push(line);
      end = HERE_DOCUMENT.exec(line)?.[1] ?? null;
    } else if (line.trim() === end) end = null;
  }
  return kept.join('\n');
}

function isLook(command: string): boolean {
  const parts = withoutHereDocuments(command)
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().replace(/^\(+/, ''));
  return parts.every((part) => part === '' || part.startsWith('#') || LOOKING.test(part));
}

/**
 * The commands of the last turn that did more than read, each with the exit code that it had last. By the log, not by
 * the agent's claims.
 * @param known secrets of ours to mask in commands. @returns Markdown; empty where nothing was run.
 */
export function commandsRun(commands: readonly CommandRun[], known: readonly string[]): string {
  const last = new Map<string, number | null>();
  for (const { command, exitCode } of commands) {
    if (isLook(command)) continue;
    const shown = oneLine(command, known);
    // The newest stands last.
    last.delete(shown);
    last.set(shown, exitCode);
  }
  if (last.size === 0) return '';
  const newest = [...last].slice(-MAX_SHOWN);
  const left = last.size - newest.length;
  const lines = newest.map(
    ([command, exitCode]) => `- ${code(command)}: ${exitCode === null ? 'was not over' : `exit code ${exitCode}`}`,
  );
  const words = `Commands that the agent ran in its last turn${left === 0 ? '' : `, without the ${left} before them`}:`;
  return `${words}\n\n${lines.join('\n')}`;
}

function oneLine(command: string, known: readonly string[]): string {
  const line = maskedText(command, known)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  const cut = line.length > MAX_COMMAND ? `${line.slice(0, MAX_COMMAND - 1).toWellFormed()}…` : line;
  return harmlessMarkdown(cut, MAX_COMMAND * 2, '').replaceAll('\n', ' ');
}

/** As code, however many backticks it has. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
