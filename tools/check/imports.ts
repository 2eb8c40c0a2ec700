import { parseSync } from 'oxc-parser';

/**
 * Specifier of every module that a source names: imports and re-exports (of types, too), `import('…')` of a literal.
 * @throws Error for a file that is not TypeScript.
 */
export function importsOf(file: string, source: string): string[] {
  const { module: found, errors } = parseSync(file, source);
  const fatal = errors.find((error) => error.severity === 'Error');
  if (fatal !== undefined) throw new Error(`${file}: ${fatal.message}`);
  const exports = found.staticExports.flatMap((item) =>
    item.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
  );
  const dynamic = found.dynamicImports.flatMap((item) => {
    const literal = /^(['"`])([^'"`$]+)\1$/.exec(source.slice(item.moduleRequest.start, item.moduleRequest.end));
    return literal === null ? [] : [literal[2] as string];
  });
  return [...found.staticImports.map((item) => item.moduleRequest.value), ...exports, ...dynamic];
}
