import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Longest line of prose. Characters: a diff of two columns shows it whole. */
const MAX_COLUMNS = 100;

/** Pages whose lines are not ours to break: a text of others. */
const LONG_LINES: readonly string[] = ['CODE_OF_CONDUCT.md'];

const SKIPPED = [
  '**/node_modules/**',
  '**/dist/**',
  '**/.next/**',
  '**/.data/**',
  '**/.cache/**',
  '**/testdata/**',
  '**/fixtures/**',
];

/** Long lines and dead links of every Markdown page of ours, as sentences. */
export function markdownProblems(root: string): string[] {
  const files = globSync(
    ['*.md', '.github/**/*.md', '{apps,bench,deploy,docs,helm,keycloak,libs,prisma,tests,tools}/**/*.md'],
    {
      cwd: root,
      exclude: SKIPPED,
    },
  ).sort();
  const pages = new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
  return files.flatMap((file) => [
    ...(LONG_LINES.includes(file)
      ? []
      : longLines(pages.get(file) ?? '').map((line) => `${file}:${line} is longer than ${MAX_COLUMNS} characters`)),
    ...deadLinks(root, file, pages),
  ]);
}

/**
 * Numbers of the lines that are too long. Rows of tables, code blocks and a line that is one address or one piece of
 * code may be.
 */
export function longLines(page: string): number[] {
  return linesOfProse(page)
    .filter(({ text }) => [...text].length > MAX_COLUMNS && !/^\s*\|/.test(text) && hasBreak(text))
    .map(({ number }) => number);
}

/** Whether a line has a space, outside of code and after a list's mark, at which it can be broken. */
const hasBreak = (line: string): boolean =>
  /\S\s+\S/.test(
    line.replace(/^\s*(?:[-*+>]|\d+\.)\s+/, '').replaceAll(/`[^`]*`/g, (code) => code.replaceAll(' ', '_')),
  );

/** Anchors of a page's headings, as forges make them: lower case, spaces as hyphens, a number for a repetition. */
export function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const { text } of linesOfProse(page)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const plain = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

function deadLinks(root: string, file: string, pages: ReadonlyMap<string, string>): string[] {
  return linesOfProse(pages.get(file) ?? '').flatMap(({ text, number }) =>
    linksIn(text).flatMap((link) => {
      const [to = '', anchor = ''] = link.split('#');
      const target = to === '' ? file : path.normalize(path.join(path.dirname(file), decodeURIComponent(to)));
      const absolute = path.join(root, target);
      if (!existsSync(absolute)) return [`${file}:${number} links to ${link}: there is no ${target}`];
      if (anchor === '') return [];
      const page = statSync(absolute).isDirectory() ? '' : (pages.get(target) ?? readFileSync(absolute, 'utf8'));
      return anchorsOf(page).has(anchor) ? [] : [`${file}:${number} links to ${link}: ${target} has no such heading`];
    }),
  );
}

/**
 * Relative targets of a line's links and pictures; addresses with a scheme and those of a server's root are left out.
 */
export function linksIn(line: string): string[] {
  return [
    ...line
      .replaceAll(/`[^`]*`/g, (code) => 'x'.repeat(code.length))
      .matchAll(/\]\(\s*<?([^()\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
  ]
    .map(([, target = '']) => target)
    .filter((target) => !/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(target));
}

/** Lines outside of fenced code, with their numbers. */
function linesOfProse(page: string): { text: string; number: number }[] {
  let fence = '';
  return page.split('\n').flatMap((text, index) => {
    const mark = /^\s*(?:>\s*)?(`{3,}|~{3,})/.exec(text)?.[1] ?? '';
    if (fence === '' && mark === '') return [{ text, number: index + 1 }];
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    return [];
  });
}
