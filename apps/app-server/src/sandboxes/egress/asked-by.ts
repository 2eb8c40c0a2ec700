import { EGRESS_ASKERS, type EgressAskedBy, MAX_ASKER_LINE } from '@slipway/contracts/sandboxes';

/** Beginning of a command's JSON in which its first line is searched. Characters. */
export const COMMAND_JSON = 4_000;

export interface AskerRow {
  readonly action_id: string | null;
  /** Of the action with this id in the log of the conversation; `null`: there is none. */
  readonly asker_seq: string | null;
  /** Its command as a JSON string of `READABLE`, cut anywhere; `null` where its tool has none. */
  readonly asker_command: string | null;
}

/** Who asked, as the sandbox says. An id that is none of this conversation's actions says nothing. */
export function askedByOf({ action_id: id, asker_seq: seq, asker_command: command }: AskerRow): EgressAskedBy | null {
  if (seq !== null) return { kind: 'action', line: firstLine(command), seq: Number(seq) };
  const kind = EGRESS_ASKERS.find((known) => known === id);
  return kind === undefined ? null : { kind, line: '', seq: null };
}

/** First line of a text that is given as the beginning of its JSON, without blank lines before it. */
function firstLine(readable: string | null): string {
  // Control characters were escapes.
  const json = (readable ?? '').replaceAll(/(?<!\\)\/u(00[01][0-9a-f])/gi, '\\u$1');
  const [, body = ''] = /^"(?:\\[nrt]|\s)*((?:[^"\\]|\\["\\/bft]|\\u[0-9a-f]{4})*)/i.exec(json) ?? [];
  const [line = ''] = (JSON.parse(`"${body}"`) as string).split(/[\r\n\u2028\u2029]/);
  const cut = line.trim().toWellFormed();
  if (cut.length <= MAX_ASKER_LINE) return cut;
  return `${cut.slice(0, MAX_ASKER_LINE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
