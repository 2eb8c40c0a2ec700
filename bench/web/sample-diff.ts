import type { FakeConversation } from './fake-app.ts';

type SampleFile = FakeConversation['files'][number];

const AREAS = ['api', 'billing', 'contracts', 'deploy', 'gateway', 'log', 'search', 'users'];
const ENDINGS = ['ts', 'sql', 'py', 'go', 'test.ts', 'md'];
/** Files that are opened, each as long as one that has to be there at once. */
export const OPENED = Array.from({ length: 5 }, (_, index) => ({ path: `src/api/opened-${index}.ts`, lines: 2_000 }));
/** As long as a file may be to be shown whole. */
export const LONGEST = { path: 'src/api/longest.ts', lines: 20_000 };

/** `files` changed files with `lines` changed lines together; those above are among them where there is room. */
export function sampleDiff(files: number, lines: number): SampleFile[] {
  if (files === OPENED.length) return OPENED.map((file, index) => fileOf(file.path, file.lines, index));
  const large = [...OPENED, LONGEST].filter((each) => each.lines < lines);
  const left = lines - large.reduce((sum, each) => sum + each.lines, 0);
  const count = files - large.length;
  const each = Math.floor(left / count);
  const small = Array.from({ length: count }, (_, index) => {
    const area = AREAS[index % AREAS.length];
    const folder = `${index % 5 === 0 ? 'tests' : 'src'}/${area}/part-${Math.floor(index / 200)}`;
    return {
      path: `${folder}/file-${index}.${ENDINGS[index % ENDINGS.length]}`,
      lines: index === 0 ? left - each * (count - 1) : each,
    };
  });
  return [...large, ...small]
    .map((file, index) => fileOf(file.path, file.lines, index))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function fileOf(path: string, lines: number, seed: number): SampleFile {
  const removed = Math.floor(lines / 3);
  const added = lines - removed;
  const hunks: string[] = [];
  let at = 1;
  // Hunks of at most forty changed lines, as edits have them; a third of them replaced.
  for (let done = 0, gone = 0; done < added; ) {
    const more = Math.min(27, added - done);
    const less = Math.min(removed - gone, done + more >= added ? removed - gone : 13);
    const context = [0, 1, 2].map((index) => ` // ${path} stays ${at + index}`);
    const lost = Array.from({ length: less }, (_, index) => `-${line(seed, at + index, 'old')}`);
    const made = Array.from({ length: more }, (_, index) => `+${line(seed, at + index, 'now')}`);
    hunks.push(`@@ -${at},${less + 3} +${at},${more + 3} @@`, ...context, ...lost, ...made);
    [done, gone, at] = [done + more, gone + less, at + more + 60];
  }
  return {
    path,
    status: 'UPDATED',
    additions: added,
    deletions: removed,
    binary: false,
    hash: `${seed.toString(16)}-${lines}`,
    patch: `diff --git a/${path} b/${path}\nindex 1111111..2222222 100644\n--- a/${path}\n+++ b/${path}\n${hunks.join('\n')}\n`,
  };
}

function line(seed: number, at: number, word: string): string {
  return `  const ${word}${at} = readRows(input, { seed: ${seed}, at: ${at} });`;
}
