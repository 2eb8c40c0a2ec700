/**
 * Patterns over paths, as in a `.gitignore` without negation: `*` and `?` stay within a name, `**` crosses folders.
 * One without `/` matches a name at any depth; one with `/` begins at a root's folder (`project/…`, `home/…`) when it
 * names one, and at the project's else.
 */
export function matcherOf(patterns: readonly string[]): (path: string) => boolean {
  const bytes = patterns.map((pattern) => Buffer.from(pattern).toString('latin1').replace(/\/+$/, ''));
  const exact = new Set(bytes.filter((pattern) => /^[^*?/]+$/.test(pattern)));
  const others = bytes.filter((pattern) => !exact.has(pattern) && pattern !== '').map(expressionOf);
  if (exact.size === 0 && others.length === 0) return () => false;
  return (path) =>
    exact.has(path.slice(path.lastIndexOf('/') + 1)) || others.some((expression) => expression.test(path));
}

/** Linear in the path: no part of it can match in two ways, since `*` stops at `/`. */
function expressionOf(pattern: string): RegExp {
  const steps = pattern.replace(/^\//, '').split('/');
  const anchored = pattern.includes('/');
  if (anchored && steps[0] !== 'project' && steps[0] !== 'home' && steps[0] !== '**') steps.unshift('project');
  const source = steps
    .map((step, index) => {
      const last = index === steps.length - 1;
      if (step === '**') return last ? '.+' : '(?:[^/]+/)*';
      const name = step.replace(/\*+/g, '*').replace(/[.+^${}()|[\]\\*?]/g, (char) => wildcard(char));
      return last ? name : `${name}/`;
    })
    .join('');
  return new RegExp(anchored ? `^${source}$` : `(?:^|/)${source}$`, 's');
}

function wildcard(char: string): string {
  return char === '*' ? '[^/]*' : char === '?' ? '[^/]' : `\\${char}`;
}
