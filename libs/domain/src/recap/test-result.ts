/** What the runner of tests wrote at its end; `null`: it did not say how many. */
export interface TestResult {
  readonly passed: number | null;
  readonly failed: number | null;
  /** Exit code 0. */
  readonly ok: boolean;
}

/** Programs that run tests and do nothing else, and scripts by that name. */
const RUNS_TESTS = new RegExp(
  [
    String.raw`(?:npm|pnpm|yarn|bun|deno)\s+(?:run\s+|-s\s+|--silent\s+)*(?:test|t)\b(?!-)`,
    String.raw`(?:npx\s+|bunx\s+)?(?:jest|vitest|mocha|ava|playwright\s+test|cypress\s+run)\b`,
    String.raw`node\s+(?:\S+\s+)*--test\b`,
    String.raw`(?:python3?\s+-m\s+)?(?:pytest|unittest)\b`,
    String.raw`(?:go|cargo|dotnet|swift|mix|make|rake|bazel|ctest|gradle|\.\/gradlew|mvn|\.\/mvnw)\s+(?:\S+\s+)*test\b`,
    'ctest',
    'rspec',
    'phpunit',
    'tox',
  ].join('|'),
);

/** Most of a command that is looked at. UTF-16 code units. */
const MAX_COMMAND = 400;

/** Whether a command runs tests: its program does, at the beginning or after `&&`, `;` or `|`. */
export function runsTests(command: string): boolean {
  return command
    .slice(0, MAX_COMMAND)
    .split(/&&|\|\||[;|\n]/)
    .some((part) => {
      const words = part
        .trim()
        .replace(/^(?:[A-Z_][A-Z0-9_]*=\S*\s+)+/, '')
        .replace(/^(?:time|env|nice|sudo)\s+/, '');
      return new RegExp(`^(?:${RUNS_TESTS.source})(?:\\s|$)`).test(words);
    });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;

/**
 * How a run of tests ended, from the end of its output. Counts are those of the last line that has them, as Jest,
 * Vitest, Mocha, pytest, Node, Cargo and RSpec write it; others have none.
 */
export function testResult(output: string, exitCode: number): TestResult {
  const lines = output.replaceAll(COLOURS, '').split('\n');
  const found = NOTATIONS.reduce<Counts | null>((before, read) => before ?? read(lines), null);
  return { ...(found ?? { passed: null, failed: null }), ok: exitCode === 0 };
}

type Counts = Pick<TestResult, 'passed' | 'failed'>;

const PASSED = /(\d{1,9}) passed\b/;
const FAILED = /(\d{1,9}) failed\b/;

/** How runners write their counts, the plainest first; `null`: it was not this one. */
const NOTATIONS: ReadonlyArray<(lines: readonly string[]) => Counts | null> = [
  // Node's own: "# pass 12" and "# fail 0", or with "ℹ" before them.
  (lines) => onTwoLines(lines, /^[#ℹ] pass (\d{1,9})$/, /^[#ℹ] fail (\d{1,9})$/),
  // RSpec: "12 examples, 1 failure".
  (lines) => {
    const line = lines.findLast((each) => /^\s*\d{1,9} examples?, \d{1,9} failures?/.test(each)) ?? '';
    const [all, failed] = [numberIn(/(\d{1,9}) examples?/, line), numberIn(/(\d{1,9}) failures?/, line)];
    return all === null || failed === null ? null : { passed: Math.max(0, all - failed), failed };
  },
  // Jest and Vitest count files on one line and tests on the next.
  (lines) => onOneLine(lines.filter((line) => /^\s*Tests:?\s/.test(line))),
  // Mocha.
  (lines) => onTwoLines(lines, /^\s*(\d{1,9}) passing\b/, /^\s*(\d{1,9}) failing\b/),
  // pytest and Cargo.
  onOneLine,
];

function onTwoLines(lines: readonly string[], ofPassed: RegExp, ofFailed: RegExp): Counts | null {
  const last = (pattern: RegExp) => numberIn(pattern, lines.findLast((line) => pattern.test(line)) ?? '');
  return counts(last(ofPassed), last(ofFailed));
}

function onOneLine(lines: readonly string[]): Counts | null {
  const line = lines.findLast((each) => PASSED.test(each) || FAILED.test(each)) ?? '';
  return counts(numberIn(PASSED, line), numberIn(FAILED, line));
}

/** Runners leave a count of none out. */
function counts(passed: number | null, failed: number | null): Counts | null {
  return passed === null && failed === null ? null : { passed: passed ?? 0, failed: failed ?? 0 };
}

function numberIn(pattern: RegExp, text: string): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
