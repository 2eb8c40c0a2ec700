import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The last migration of before the first release: no installation has code that is older, so what was dropped until
 * then is unused. Folders sort by the time in their names.
 */
const BEFORE_FIRST_RELEASE = '20261122010000';
/**
 * The first line of one that only adds. `libs/db/src/migrate/downgrade.ts` lets an older version run after it; without
 * the line a rollback is refused.
 */
const EXPANDS = /^-- slipway: expand-only\b/;
/** The line that makes a migration one that contracts: from this version on nothing uses what it takes away. */
const MARK = /^-- contract: unused since (\d+\.\d+\.\d+)$/m;

/**
 * What code of the version before cannot bear, in words. A statement about a table that the same migration makes is no
 * matter for older code.
 */
const CONTRACTS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bDROP\s+(?!NOT\s+NULL\b)/i, 'drops what it may use'],
  [/\bRENAME\b/i, 'renames what it may use'],
  [/\bALTER\s+(?:COLUMN\s+)?\S+\s+(?:SET\s+DATA\s+)?TYPE\b/i, 'changes the type of a column that it reads or writes'],
  [/\bSET\s+NOT\s+NULL\b/i, 'refuses the nulls that it may write'],
  [/\bADD\s+(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN|EXCLUDE)\b/i, 'refuses rows that it may write'],
  [/^\s*CREATE\s+UNIQUE\s+INDEX\b/i, 'refuses rows that it may write'],
  [
    /\bADD\s+(?:COLUMN\s+)?(?!CONSTRAINT)\S+\s(?:(?!\bDEFAULT\b|\bGENERATED\b|,).)*\bNOT\s+NULL\b(?!(?:(?!,).)*\b(?:DEFAULT|GENERATED)\b)/is,
    'adds a column that it does not fill',
  ],
  [/^\s*TRUNCATE\b/i, 'takes away rows that it may need'],
  [/^\s*REVOKE\b/i, 'takes away rights that it may need'],
];

/**
 * Two versions run side by side during every upgrade, and both on the newest schema. So a migration only adds, unless
 * it says by its mark since which released version nothing uses what it takes away; that version must be older than the
 * one that brings the migration. What a function's new body means for older callers no rule can see.
 *
 * @returns what is wrong, a sentence each.
 */
export function contractingMigrations(root: string): string[] {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  return globSync('prisma/*/migrations/*/migration.sql', { cwd: root })
    .sort()
    .filter((file) => path.basename(path.dirname(file)).slice(0, BEFORE_FIRST_RELEASE.length) > BEFORE_FIRST_RELEASE)
    .flatMap((file) =>
      problemsOf(readFileSync(path.join(root, file), 'utf8'), version).map((problem) => `${file}: ${problem}`),
    );
}

/** @param version the one that brings the migration. */
export function problemsOf(sql: string, version: string): string[] {
  const since = MARK.exec(sql)?.[1];
  if (since !== undefined) {
    return older(since, version)
      ? []
      : [
          `it is marked as unused since ${since}, but ${version} is the first to bring it: ${since} has to be a release before, whose replicas still run beside it`,
        ];
  }
  const statements = statementsOf(sql);
  const made = new Set(
    statements.flatMap(
      (statement) =>
        /^\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w."]+)/i.exec(statement)?.[1]?.toLowerCase() ?? [],
    ),
  );
  const contracts = statements.flatMap((statement) => {
    const table = /^\s*(?:ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+|ONLY\s+)*|CREATE\s+UNIQUE\s+INDEX\b.*?\bON\s+)([\w."]+)/is
      .exec(statement)?.[1]
      ?.toLowerCase();
    if (table !== undefined && made.has(table)) return [];
    const found = CONTRACTS.find(([pattern]) => pattern.test(statement));
    return found === undefined
      ? []
      : [
          `code of the version before runs beside this, and it ${found[1]}: \`${shortened(statement)}\`. Expand first; in a later version, with the line \`-- contract: unused since X.Y.Z\`, take away`,
        ];
  });
  return contracts.length === 0 && !EXPANDS.test(sql)
    ? ['it only adds and does not say so: without `-- slipway: expand-only` as its first line a rollback is refused']
    : contracts;
}

/**
 * The last migration that may make functions; since then they are in files of their own, `prisma/<schema>/functions`.
 */
const BEFORE_FUNCTION_FILES = '20261126131500_analytics';
/** What the file of a function may say. All of it may be said twice, and takes nothing away. */
const IN_FUNCTION_FILES =
  /^\s*(?:CREATE\s+OR\s+REPLACE\s+(?:FUNCTION|TRIGGER)|COMMENT\s+ON\s+FUNCTION|GRANT\s+EXECUTE\s+ON\s+FUNCTION|REVOKE\s+ALL\s+ON\s+FUNCTION\s+\S.*\sFROM\s+PUBLIC\s*$)/is;

/** @returns what is wrong with where functions are written, a sentence each. */
export function misplacedFunctions(root: string): string[] {
  const read = (file: string): string[] => statementsOf(readFileSync(path.join(root, file), 'utf8'));
  const inMigrations = globSync('prisma/*/migrations/*/migration.sql', { cwd: root })
    .sort()
    .filter(
      (file) =>
        path.basename(path.dirname(file)) > BEFORE_FUNCTION_FILES &&
        read(file).some((statement) => /^\s*CREATE\b.*\bFUNCTION\b/is.test(statement)),
    )
    .map(
      (file) =>
        `${file}: makes a function; write it as ${path.dirname(path.dirname(path.dirname(file)))}/functions/NAME.sql, which is applied after the migrations`,
    );
  const inFiles = globSync('prisma/*/functions/*.sql', { cwd: root })
    .sort()
    .flatMap((file) =>
      read(file)
        .filter((statement) => !IN_FUNCTION_FILES.test(statement))
        .map(
          (statement) =>
            `${file}: only CREATE OR REPLACE FUNCTION or TRIGGER, rights and a comment belong here, not \`${shortened(statement)}\``,
        ),
    );
  return [...inMigrations, ...inFiles];
}

const shortened = (statement: string): string => statement.trim().replaceAll(/\s+/g, ' ').slice(0, 100);

/** Statements without comments, strings and bodies of functions; the body of a DO block stays, since it runs now. */
function statementsOf(sql: string): string[] {
  const plain = sql.replace(
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|(\bDO\s+(?:LANGUAGE\s+\w+\s+)?)?(\$\w*\$)([\s\S]*?)\2/gi,
    (_all, does: string | undefined, _quote, body: string | undefined) => (does === undefined ? ' ' : `DO ; ${body} ;`),
  );
  return plain.split(';').filter((statement) => statement.trim() !== '');
}

function older(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map((part) => Number.parseInt(part, 10))) as [
    number[],
    number[],
  ];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}
