import { runsTests, type TestResult, testResult } from './test-result.js';

/** What a recap needs of one event of the log. Fields that are absent or of another shape count as not said. */
export type RecapFact =
  /** The agent calls a tool. */
  | { readonly seq: number; readonly kind: 'call'; readonly id: string; readonly command: string }
  /** A tool answered. */
  | {
      readonly seq: number;
      readonly kind: 'answer';
      /** Id of the call. */
      readonly of: string;
      readonly failed: boolean;
      readonly exitCode: number | null;
      /** End of what it printed, where it is a command. */
      readonly output: string;
      /** Files that it wrote. */
      readonly edited: readonly string[];
    }
  /** A call or a run failed without an answer. */
  | { readonly seq: number; readonly kind: 'failure' }
  /** The agent wrote to people, or ended its task with words. */
  | { readonly seq: number; readonly kind: 'message' }
  /** It began to wait for an approval. */
  | { readonly seq: number; readonly kind: 'question' }
  /** US dollars so far. */
  | { readonly seq: number; readonly kind: 'cost'; readonly usd: number };

/** Counts of a stretch of a log: each is in the log, nothing is estimated. */
export interface Recap {
  /** Calls of tools. */
  readonly steps: number;
  /** Different files that tools for files wrote; what commands wrote is not known. */
  readonly files: number;
  /** Calls and runs that failed, without runs of tests. */
  readonly failures: number;
  /** Runs of tests that ended, and how the last one did; `null`: none did. */
  readonly tests: (TestResult & { readonly runs: number }) | null;
  readonly questions: number;
  readonly messages: number;
  /** What it cost. US dollars; `null`: the log does not say. */
  readonly costUsd: number | null;
  /** Positions of all that is counted, ascending; an answer counts at the position of its call. */
  readonly rows: readonly number[];
}

/**
 * Counts what happened.
 * @param facts in the order of the log
 * @param costBefore US dollars before the first of them; `null`: not known.
 */
export function recapOf(facts: readonly RecapFact[], costBefore: number | null): Recap {
  const calls = new Map<string, Extract<RecapFact, { kind: 'call' }>>();
  const files = new Set<string>();
  const rows = new Set<number>();
  const counts = { steps: 0, failures: 0, questions: 0, messages: 0 };
  const runs: TestResult[] = [];
  let cost = costBefore;
  for (const fact of facts) {
    if (fact.kind === 'cost') {
      cost = fact.usd;
      continue;
    }
    if (fact.kind === 'call') {
      calls.set(fact.id, fact);
      counts.steps += 1;
    } else if (fact.kind === 'answer') {
      const call = calls.get(fact.of);
      for (const path of fact.edited) files.add(path);
      // -1: it still runs.
      const ended = fact.exitCode !== null && fact.exitCode >= 0;
      const ofTests = call !== undefined && runsTests(call.command);
      if (ofTests && ended) runs.push(testResult(fact.output, fact.exitCode));
      else if (fact.failed) counts.failures += 1;
      // The call was made before: only what came of it is new.
      if (call !== undefined) continue;
      if (!fact.failed && fact.edited.length === 0) continue;
    } else if (fact.kind === 'failure') counts.failures += 1;
    else if (fact.kind === 'message') counts.messages += 1;
    else counts.questions += 1;
    rows.add(fact.seq);
  }
  const costUsd = cost === null || costBefore === null ? null : Math.max(0, cost - costBefore);
  const last = runs.at(-1);
  const tests = last === undefined ? null : { ...last, runs: runs.length };
  return { ...counts, files: files.size, tests, costUsd, rows: [...rows] };
}
