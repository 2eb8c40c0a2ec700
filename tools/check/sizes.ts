import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Longest source file. Lines: beyond it a file is not read whole. */
const MAX_LINES = 450;

/** Longest line of a comment, as the formatter has it for code. Columns. */
const MAX_COLUMNS = 120;

/** Source files that are too long, and comments that are too wide, as sentences. */
export function tooLong(root: string): string[] {
  const files = globSync('{apps,libs,tools,bench,deploy,tests}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**', '**/bundle/**', '**/.next/**', '**/generated/**', '**/generated.ts'],
  });
  return files.flatMap((file) => {
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    return [...tooManyLines(file, lines.length - 1), ...tooWide(file, lines)];
  });
}

function tooManyLines(file: string, count: number): string[] {
  // An index lists names, one a line: it is not read, and split it would say where a name is instead of that it is.
  if (count <= MAX_LINES || /^libs\/[^/]+\/src\/index\.ts$/.test(file)) return [];
  return [`${file} has ${count} lines; the limit is ${MAX_LINES}: split it along what it is about`];
}

/** The formatter leaves comments as they are. A word that has no space, such as an address, may be as long as it is. */
function tooWide(file: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, index) =>
    line.length > MAX_COLUMNS && /^\s*(\/\/|\/?\*\*?) .* /.test(line) && !/biome-ignore|slipway:/.test(line)
      ? [`${file}:${index + 1}: a comment of ${line.length} columns; the limit is ${MAX_COLUMNS}`]
      : [],
  );
}
