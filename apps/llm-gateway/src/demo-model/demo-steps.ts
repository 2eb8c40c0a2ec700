/** The commands of the script, and how their real output is read. */

export const FILE_NAME = 'SLIPWAY_DEMO.md';

/** What the first command saw. */
export interface LookResult {
  readonly directory: string;
  /** `hash subject`, newest first; at most five. */
  readonly commits: readonly string[];
  /** What git said instead of commits. */
  readonly gitSaid: string;
  /** Names; at most twenty. */
  readonly files: readonly string[];
  /** Lines of the demo's file, `null` when there is none. */
  readonly lines: number | null;
  /** Entries that it has. */
  readonly entries: number;
}

export interface CheckResult {
  readonly exitCode: number;
  readonly holds: boolean;
  /** `git status --short`. */
  readonly status: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Sections with a line of their own, so that a shell's prompt or a trailer of the tool does no harm. */
export function lookCommand(directory: string | null): string {
  return [
    ...(directory === null ? [] : [`cd ${quoted(directory)}`]),
    'echo "=== directory"; pwd',
    'echo "=== commits"; git --no-pager -c color.ui=false log --oneline --no-decorate -n 5 2>&1',
    'echo "=== files"; command ls -A1 | grep -vx "\\.git" | head -n 20',
    `echo "=== file"; if [ -f ${FILE_NAME} ]; then grep -c "^## Entry " ${FILE_NAME}; wc -l < ${FILE_NAME}; else echo none; fi`,
    'echo "=== end"',
  ].join('; ');
}

/** `null` when the output is not whole. */
export function readLook(output: string): LookResult | null {
  const sections = sectionsOf(output);
  const directory = sections.get('directory')?.[0];
  const file = sections.get('file');
  if (directory === undefined || !directory.startsWith('/') || file === undefined || !sections.has('end')) return null;
  const commitLines = sections.get('commits') ?? [];
  const commits = commitLines.filter((line) => /^[0-9a-f]{7,40} /.test(line));
  const [entries = 0, lines = Number.NaN] = file.map(Number);
  const absent = file[0] === 'none';
  if (!absent && !(Number.isInteger(entries) && Number.isInteger(lines))) return null;
  return {
    directory: directory === '/' ? '' : directory,
    commits,
    gitSaid: commits.length > 0 ? '' : commitLines.join(' ').slice(0, 200),
    files: sections.get('files') ?? [],
    lines: absent ? null : lines,
    entries: absent ? 0 : entries,
  };
}

export function checkCommand(look: LookResult): string {
  return [
    'echo "=== status"',
    'git --no-pager -c color.ui=false status --short 2>&1 | head -n 20',
    `echo "=== check"; grep -qxF ${quoted(headingOf(look.entries + 1))} ${quoted(`${look.directory}/${FILE_NAME}`)}; echo "exit code $?"`,
    'echo "=== end"',
  ].join('; ');
}

/** `null` when the output is not whole. */
export function readCheck(output: string): CheckResult | null {
  const sections = sectionsOf(output);
  const exitCode = /^exit code (\d+)$/.exec(sections.get('check')?.[0] ?? '')?.[1];
  if (exitCode === undefined || !sections.has('end')) return null;
  return { exitCode: Number(exitCode), holds: exitCode === '0', status: (sections.get('status') ?? []).join('\n') };
}

/** What the file gets: the user's own words, and what the shell answered. */
export function entryText(number: number, prompt: string, look: LookResult): string {
  const words = prompt.slice(0, 600).split('\n').slice(0, 12);
  const cut = prompt.length > 600 || prompt.split('\n').length > 12;
  const commits =
    look.commits.length === 0
      ? [`git said: ${look.gitSaid || 'nothing'}`]
      : ['The newest commits:', '', ...look.commits.map((commit) => `    ${commit}`)];
  const files =
    look.files.length === 0
      ? 'There were no files.'
      : `Files and folders${look.files.length === 20 ? ' (the first 20)' : ''}: ${look.files.map((file) => `\`${file}\``).join(', ')}`;
  return [
    headingOf(number),
    '',
    'The message was:',
    '',
    ...words.map((line) => `> ${line}`.trimEnd()),
    ...(cut ? ['> …'] : []),
    '',
    ...commits,
    '',
    files,
    '',
  ].join('\n');
}

/** A whole new file with its first entry. */
export function fileText(entry: string): string {
  return `# Slipway demo\n\nWritten by Slipway's demo model: a fixed script, not an AI. It may be deleted.\n\n${entry}`;
}

function headingOf(number: number): string {
  return `## Entry ${number}`;
}

function sectionsOf(output: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let lines: string[] | null = null;
  for (const raw of output.split(/\r?\n/)) {
    const name = /^=== ([a-z]+)$/.exec(raw)?.[1];
    if (name !== undefined) {
      lines = [];
      sections.set(name, lines);
    } else if (raw.trim() !== '') lines?.push(raw.trimEnd());
  }
  return sections;
}
