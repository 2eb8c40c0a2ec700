import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, withFolders } from '../image-parts.ts';
import { entriesOf, type LayerEntry } from '../layer.ts';
import { bundleProgram } from './app-bundle.ts';
import type { AppPlan } from './app-list.ts';
import { datadogFolder, datadogPackages } from './datadog/datadog-folder.ts';
import { npmClosure } from './npm-closure.ts';
import { licenceTexts, type NpmPart, npmParts } from './npm-licences.ts';
import { webEntries } from './web-files.ts';

export interface AppContents {
  /** Below /opt/slipway; folders are not among them. */
  readonly files: readonly LayerEntry[];
  readonly npm: readonly NpmPart[];
  /** dd-trace below /opt/slipway/datadog, a layer of its own; none for an app that never has it. */
  readonly datadog: readonly LayerEntry[];
  /** Text of /usr/share/doc/slipway/LICENSES.txt. */
  readonly licences: string;
}

export const APP_FOLDER = 'opt/slipway';
export const DOC_FOLDER = 'usr/share/doc/slipway';

/** What is the app's own in its image, from the built files of this checkout. @throws Error that says what to build. */
export async function appContents(
  app: string,
  plan: AppPlan,
  version: string,
  signal: AbortSignal,
): Promise<AppContents> {
  const datadog = plan.datadog ? await datadogFolder(signal) : undefined;
  const files: LayerEntry[] = [];
  const packages = new Set<string>();
  for (const [name, entry] of Object.entries({ ...plan.programs, ...builtOnes(plan.optional) })) {
    const bundle = await bundleProgram(entry, { datadog: name === plan.entry ? datadog : undefined });
    files.push(textFile(`${APP_FOLDER}/${name}`, bundle.content));
    for (const folder of bundle.packages) packages.add(folder);
  }
  if (plan.next) {
    files.push(...(await webEntries()));
    for (const folder of npmClosure(`apps/${app}`)) packages.add(folder);
  }
  for (const { from, to, only } of plan.folders ?? []) {
    const names = globSync('**', { cwd: path.join(ROOT, from) })
      .map((name) => name.split(path.sep).join('/'))
      .filter((name) => only.test(name));
    if (names.length === 0) throw new Error(`${from} holds nothing for the image of ${app}.`);
    if (from.startsWith('node_modules/')) packages.add(from);
    for (const name of names)
      files.push(textFile(`${APP_FOLDER}/${to}/${name}`, readFileSync(path.join(ROOT, from, name))));
  }
  files.push(
    textFile(
      `${APP_FOLDER}/package.json`,
      `${JSON.stringify({ name: `@slipway/${app}`, version, private: true, type: 'module' })}\n`,
    ),
  );
  for (const folder of datadog === undefined ? [] : datadogPackages(datadog)) packages.add(folder);
  const npm = npmParts([...packages]);
  return {
    files,
    npm,
    datadog: datadog === undefined ? [] : await datadogEntries(datadog),
    licences: licenceTexts(npm),
  };
}

/** The app's layer: its files, and what they are made of. */
export function appLayerEntries({ files, licences }: AppContents, bill: string): LayerEntry[] {
  return withFolders([
    ...files,
    textFile(`${DOC_FOLDER}/sbom.cdx.json`, bill),
    textFile(`${DOC_FOLDER}/LICENSES.txt`, licences),
  ]);
}

async function datadogEntries(folder: string): Promise<LayerEntry[]> {
  const below = await entriesOf(folder, `${APP_FOLDER}/datadog`, { youngest: 0, owner: 0 });
  return withFolders(below.map((entry) => ({ ...entry, mtime: 0, mode: entry.kind === 'directory' ? 0o755 : 0o644 })));
}

function builtOnes(programs: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(programs).filter(([, entry]) => existsSync(path.join(ROOT, entry))));
}

function textFile(name: string, content: string | Buffer): LayerEntry {
  const from = Buffer.from(content);
  return { kind: 'file', path: name, mode: 0o644, uid: 0, gid: 0, mtime: 0, size: from.length, from };
}
