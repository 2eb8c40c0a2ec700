// Writes every file that is made from the contracts, the apps' configuration schemas, the Prisma schemas, the SQL
// functions, deploy/kubernetes, the chart's values, tools/dashboards and the commands of the web app; `--check` only
// says which of them are out of date.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GeneratedFile } from './generate/generated-file.ts';

const root = path.resolve(import.meta.dirname, '..');
const check = process.argv.includes('--check');

const build = (...projects: string[]): void =>
  void execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-b', ...projects], { cwd: root, stdio: 'inherit' });
const differs = ({ path: file, content }: GeneratedFile): boolean =>
  !existsSync(path.join(root, file)) || readFileSync(path.join(root, file), 'utf8') !== content;
function write({ path: file, content }: GeneratedFile): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), content);
  console.log(`wrote ${file}`);
}

execFileSync(process.execPath, [path.join(root, 'libs/db/scripts/generate-client.mjs')], { stdio: 'inherit' });
// The generators read what is built: the contracts, then, with the client that is made from them, the apps.
build('libs/contracts');
const [{ apiClient }, { tables }] = await Promise.all([
  import('./generate/api-client.ts'),
  import('./generate/tables.ts'),
]);
const client = apiClient();
const rows = tables(root);
if (!check) [client, rows].filter(differs).forEach(write);
build();
const [
  { functionVersions },
  { openapi },
  { errorPages },
  { configuration },
  { compatibility },
  { chartReadme },
  { chartSandboxes },
  { shortcuts },
  dashboards,
] = await Promise.all([
  import('./generate/function-versions.ts'),
  import('./generate/openapi.ts'),
  import('./generate/error-pages.ts'),
  import('./generate/configuration.ts'),
  import('./generate/compatibility.ts'),
  import('./generate/chart-readme.ts'),
  import('./generate/chart-sandboxes.ts'),
  import('./generate/shortcuts.ts'),
  import('./dashboards/files.ts'),
]);
const { file: configurationPage, missing } = await configuration(root);
const { file: document, missing: examples } = openapi();
const files: GeneratedFile[] = [
  client,
  rows,
  ...functionVersions(root, new Date()),
  document,
  ...errorPages(),
  configurationPage,
  compatibility(),
  chartReadme(root),
  ...chartSandboxes(root),
  shortcuts(),
  ...dashboards.dashboardFiles(),
];

const wanted = new Set(files.map((file) => file.path));
/** Folders in which a file that is not made any more must go. */
const foldersOfOurs = ['docs/errors', ...dashboards.DASHBOARD_FOLDERS];
const there = foldersOfOurs.flatMap((folder) =>
  existsSync(path.join(root, folder)) ? readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`) : [],
);
const stale = there.filter((file) => !wanted.has(file));
const drifted = files.filter(differs);

for (const app of missing)
  console.log(
    `${check ? 'error' : 'warning'}: apps/${app}/src/config.ts exports no ConfigSchema, so docs/configuration.md leaves it out`,
  );
for (const missing of examples) console.log(`${check ? 'error' : 'warning'}: ${missing}`);
if (check) {
  for (const file of [...drifted.map((entry) => entry.path), ...stale])
    console.log(`out of date: ${file} (npm run generate)`);
  process.exit(drifted.length + stale.length + missing.length + examples.length === 0 ? 0 : 1);
}
drifted.forEach(write);
for (const file of stale) rmSync(path.join(root, file));
