/** The order in which a change is understood: what it promises, what does it, what shows it, what is made from it. */
export const CHAPTERS = ['contract', 'core', 'tests', 'generated'] as const;
export type Chapter = (typeof CHAPTERS)[number];

const GENERATED = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock)$/,
  /(^|\/)(Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock|mix\.lock)$/,
  /(^|\/)(dist|build|vendor|node_modules|generated|__generated__|__snapshots__)\//,
  /(\.generated\.|\.min\.(js|css)$|\.map$|\.snap$|_pb2(_grpc)?\.py$|\.pb\.go$|(^|[/.])generated\.\w+$)/,
];
const TESTS = [
  /(^|\/)(tests?|__tests__|spec|e2e|fixtures|testdata|testing)\//i,
  /([._-](test|tests|spec|e2e)\.\w+$|_test\.\w+$|(^|\/)(test_[^/]*|conftest)\.py$|Tests?\.(java|kt|cs|swift)$)/,
];
const CONTRACT = [
  /(^|\/)(contracts?|schemas?|proto|protos|migrations?|api-spec|openapi)\//i,
  /(\.(proto|graphql|gql|sql|prisma|avsc|xsd|d\.ts)$|(^|\/)(openapi|swagger|schema)\.\w+$)/i,
];

/** Which part of a change a file belongs to, by its path alone. */
export function chapterOf(path: string): Chapter {
  if (GENERATED.some((each) => each.test(path))) return 'generated';
  if (TESTS.some((each) => each.test(path))) return 'tests';
  if (CONTRACT.some((each) => each.test(path))) return 'contract';
  return 'core';
}

/** Files by chapter, in the order of reading, without those that have none; within one as they came. */
export function byChapter<T extends { readonly path: string }>(
  files: readonly T[],
): ReadonlyArray<{ readonly chapter: Chapter; readonly files: readonly T[] }> {
  const groups = Map.groupBy(files, ({ path }) => chapterOf(path));
  return CHAPTERS.flatMap((chapter) => {
    const group = groups.get(chapter);
    return group === undefined ? [] : [{ chapter, files: group }];
  });
}
