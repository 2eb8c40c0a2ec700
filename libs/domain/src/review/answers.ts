/** What an agent says about one thread. */
export interface ThreadAnswer {
  readonly number: number;
  readonly commit: string | null;
  readonly text: string;
}

/** Longest answer that is shown; the event has the rest. UTF-16 code units. */
const MAX_ANSWER_LENGTH = 4_000;
/** `thread 3: words`, `thread 3 (commit 1a2b3c4): words`; in a list, as a heading and in bold as well. */
const BEGINS =
  /^[ \t]{0,8}(?:[-*+>#]{1,6}[ \t]+|\d{1,3}[.)][ \t]+)?[*_`]{0,3}thread[ \t]+#?(\d{1,4})[*_`]{0,3}(?:[ \t]*\((?:commit[ \t]+)?[`]?([0-9a-f]{7,64})[`]?\))?[*_`]{0,3}[ \t]*:[*_`]{0,3}(.*)$/i;

/** Answers by thread in a message of an agent; a second one to the same thread is added to the first. */
export function answersIn(message: string): readonly ThreadAnswer[] {
  const answers = new Map<number, { commit: string | null; lines: string[] }>();
  let current: { commit: string | null; lines: string[] } | undefined;
  for (const line of message.split('\n')) {
    const match = BEGINS.exec(line);
    if (match === null) {
      current?.lines.push(line);
      continue;
    }
    const number = Number(match[1]);
    current = answers.get(number) ?? { commit: null, lines: [] };
    current.commit = match[2] ?? current.commit;
    current.lines.push(match[3] ?? '');
    answers.set(number, current);
  }
  return [...answers].map(([number, { commit, lines }]) => ({
    number,
    commit,
    text: lines.join('\n').trim().slice(0, MAX_ANSWER_LENGTH),
  }));
}
