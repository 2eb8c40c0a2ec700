import { parseSync } from 'oxc-parser';

export interface Import {
  readonly specifier: string;
  /** Gone at run time. */
  readonly typeOnly: boolean;
}

/** Every module that a source names: imports, re-exports and `import('…')` of a literal. @throws Error for a file that is not TypeScript. */
export function importsOf(file: string, source: string): Import[] {
  const { module: found, errors } = parseSync(file, source);
  const fatal = errors.find((error) => error.severity === 'Error');
  if (fatal !== undefined) throw new Error(`${file}: ${fatal.message}`);
  const imports = found.staticImports.map((item) => ({
    specifier: item.moduleRequest.value,
    typeOnly: item.entries.length > 0 && item.entries.every((entry) => entry.isType),
  }));
  const exports = found.staticExports.flatMap((item) =>
    item.entries.flatMap((entry) => (entry.moduleRequest === null ? [] : [{ specifier: entry.moduleRequest.value, typeOnly: entry.isType }])),
  );
  const dynamic = found.dynamicImports.flatMap((item) => {
    const literal = /^(['"`])([^'"`$]+)\1$/.exec(source.slice(item.moduleRequest.start, item.moduleRequest.end));
    return literal === null ? [] : [{ specifier: literal[2] as string, typeOnly: false }];
  });
  return [...imports, ...exports, ...dynamic];
}
