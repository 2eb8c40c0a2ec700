import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Longest source file. Lines: beyond it a file is not read whole. */
const MAX_LINES = 450;

/** Source files that are too long, as sentences. */
export function tooLong(root: string): string[] {
  const files = globSync('{apps,libs,tools,bench,deploy,tests}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**', '**/bundle/**', '**/.next/**', '**/generated/**', '**/generated.ts'],
  });
  // An index lists names, one a line: it is not read, and split it would say where a name is instead of that it is.
  return files
    .filter((file) => !/^libs\/[^/]+\/src\/index\.ts$/.test(file))
    .flatMap((file) => {
      const lines = readFileSync(path.join(root, file), 'utf8').split('\n').length - 1;
      return lines > MAX_LINES ? [`${file} has ${lines} lines; the limit is ${MAX_LINES}: split it along what it is about`] : [];
    });
}
