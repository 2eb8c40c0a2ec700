import { readFileSync } from 'node:fs';
import path from 'node:path';

export const METRICS_PAGE = path.resolve(import.meta.dirname, '../../docs/operate/metrics.md');
const BEGIN = '<!-- begin: what the apps say of themselves -->';
const END = '<!-- end -->';
/** Of the process and of Node: listed once, with the apps that have them. */
const OF_PROCESS = /^(process|nodejs)_/;

export interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** The families of one answer of `/metrics`, in their order. */
export function familiesOf(text: string): Metric[] {
  const help = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', words = '']) => [name, words]));
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
    help: help.get(name) ?? '',
  }));
}

/**
 * The generated part of the page. By name: a process exposes its metrics in the order in which its parts happened to be
 * made.
 */
export function metricTables(apps: ReadonlyMap<string, readonly Metric[]>): string {
  const table = (rows: readonly (readonly string[])[], heads: readonly string[]): string =>
    [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const own = [...apps].map(([app, metrics]) => {
    const rows = metrics
      .filter(({ name }) => !OF_PROCESS.test(name))
      .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
      .map(({ name, type, help }) => [`\`${name}\``, type, help]);
    return rows.length === 0 ? '' : `### ${app}\n\n${table(rows, ['metric', 'type', 'meaning'])}\n`;
  });
  const common = new Map<string, Metric & { apps: string[] }>();
  for (const [app, metrics] of apps)
    for (const metric of metrics.filter(({ name }) => OF_PROCESS.test(name))) {
      const known = common.get(metric.name) ?? { ...metric, apps: [] };
      known.apps.push(app);
      common.set(metric.name, known);
    }
  const every = [...apps.keys()].length;
  const rows = [...common.values()].map(({ name, type, help, apps: of }) => [
    `\`${name}\``,
    type,
    help,
    of.length === every ? 'all' : of.join(', '),
  ]);
  return [
    ...own.filter((part) => part !== ''),
    `### Process and Node\n\n${table(rows, ['metric', 'type', 'meaning', 'apps'])}\n`,
  ].join('\n');
}

/** The page with `tables` in it. */
export function pageWith(tables: string): string {
  const page = readFileSync(METRICS_PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${METRICS_PAGE} has lost its marks ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${tables}\n${page.slice(to)}`;
}

/** Names as they are queried: a histogram and a summary have further ones. */
export function queriedNames(): Set<string> {
  const names = new Set<string>();
  for (const [, name = '', type] of readFileSync(METRICS_PAGE, 'utf8').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)) {
    names.add(name);
    if (type === 'histogram') for (const suffix of ['bucket', 'sum', 'count']) names.add(`${name}_${suffix}`);
  }
  return names;
}
