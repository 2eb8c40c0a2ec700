import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { missingForHelm, openHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { parseAllDocuments } from 'yaml';
import { APP_NAMES } from '../images/apps/app-list.ts';
import { type ListedImage, listed } from '../images/image-list.ts';
import { IMAGE_NAME, ROOT } from '../images/image-parts.ts';
import { type ImagePlan, writeOciArchive } from '../images/oci-archive.ts';
import { up } from './up.ts';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

/**
 * What stands for kind and kubectl notes its arguments; kind's nodes know the names in each archive, as containerd
 * takes them from there.
 */
const FAKE = `#!/bin/sh
echo "$(basename "$0") $*" >> "$FAKE_FOLDER/calls"
case "$(basename "$0") $1 $2" in
  "kind get clusters") cat "$FAKE_FOLDER/clusters" 2>/dev/null ;;
  "kind create cluster") echo slipway > "$FAKE_FOLDER/clusters" ;;
  "kind load image-archive") tar -xOf "$3" index.json | grep -o '"io.containerd.image.name":"[^"]*"' | cut -d'"' -f4 >> "$FAKE_FOLDER/names" ;;
esac
case "$*" in *" create secret generic "*) echo "$*" | grep -o 'generic [a-z-]*' >> "$FAKE_FOLDER/secrets" ;; esac
case "$*" in *" get secret "*) name=$(echo "$*" | sed 's/.* get secret \\([a-z-]*\\).*/\\1/'); grep -qs "generic $name" "$FAKE_FOLDER/secrets" && echo "secret/$name" ;; esac
exit 0
`;

jest.setTimeout(400_000);

describeUnless(missingForHelm())('npm run kind', () => {
  let folder: string;
  let images: ListedImage[];
  let objects: {
    kind?: string;
    spec?: { template?: { spec?: { containers?: { image: string }[] } } };
    metadata?: { name: string };
    data?: Record<string, string>;
  }[];
  const PATH = process.env['PATH'] ?? '';
  const calls = (): string[] => readFileSync(path.join(folder, 'calls'), 'utf8').trim().split('\n');
  const run = (): Promise<void> =>
    up({
      images,
      issuerUrl: 'https://id.example.com/realms/slipway',
      clientSecret: 'of the client',
      say: () => {},
      signal: AbortSignal.timeout(60_000),
    });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-kind-'));
    for (const program of ['kind', 'kubectl', 'helm']) {
      writeFileSync(path.join(folder, program), FAKE);
      chmodSync(path.join(folder, program), 0o755);
    }
    Object.assign(process.env, { PATH: `${folder}${path.delimiter}${PATH}`, FAKE_FOLDER: folder });
    // Archives by the writer of the real ones, under the names of the real ones, without layers.
    const plan = (name: string): ImagePlan => ({
      architecture: 'amd64',
      created: new Date(0).toISOString(),
      config: { User: '1', WorkingDir: '/', Env: [], Labels: { name } },
      layers: [],
    });
    const archive = async (
      name: string,
      whole: string,
      tags: string[],
    ): Promise<{ archivePath: string; digest: string }> => {
      const archivePath = path.join(folder, `${name}.tar`);
      return {
        archivePath,
        digest: await writeOciArchive(plan(name), whole, tags, archivePath, AbortSignal.timeout(60_000)),
      };
    };
    const apps = [];
    for (const app of APP_NAMES)
      apps.push({
        reference: `slipway/${app}:${version}`,
        ...(await archive(app, `docker.io/slipway/${app}`, [version])),
      });
    const sandbox = await archive('sandbox', IMAGE_NAME, ['source-1']);
    images = listed(apps, { digest: sandbox.digest, archive: sandbox.archivePath });
    await run();
    const [install = ''] = calls().filter((call) => call.startsWith('helm '));
    const args = install.split(' ').slice(install.split(' ').indexOf('slipway') + 2);
    const rest = args.filter(
      (one, index) => !['--wait', '--timeout', '15m'].includes(one) || args[index - 1] === '--set',
    );
    const { helm } = await openHelm();
    const rendered = execFileSync(helm, ['template', 'slipway', 'helm/slipway', ...rest], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    objects = parseAllDocuments(rendered).map((document) => document.toJS() as (typeof objects)[number]);
  });
  afterAll(() => {
    process.env['PATH'] = PATH;
    delete process.env['FAKE_FOLDER'];
    rmSync(folder, { recursive: true, force: true });
  });

  it('names each image as its archive names it, so that every pod finds it on its node', () => {
    const names = new Set(readFileSync(path.join(folder, 'names'), 'utf8').trim().split('\n'));
    const platform = objects
      .flatMap((object) => object?.spec?.template?.spec?.containers ?? [])
      .map(({ image }) => image);
    const templates =
      objects.find((object) => object?.metadata?.name === 'slipway-templates')?.data?.['templates.yaml'] ?? '';
    const [, sandbox = 'none'] = /image: "?([^"\n]+)/.exec(templates) ?? [];
    expect(platform.length).toBeGreaterThan(7);
    for (const image of [...platform.map((one) => `docker.io/${one}`), sandbox])
      expect([image, names.has(image)]).toEqual([image, true]);
  });

  it('loads every image that the chart may pull, before Helm waits for pods', () => {
    const said = calls();
    expect(said.filter((call) => call.startsWith('kind load image-archive'))).toHaveLength(APP_NAMES.length + 1);
    expect(said.findLastIndex((call) => call.startsWith('kind load'))).toBeLessThan(
      said.findIndex((call) => call.startsWith('helm ')),
    );
    // The context of this cluster, whatever the user's is.
    for (const call of said.filter((one) => one.startsWith('kubectl ')))
      expect(call).toContain('--context kind-slipway');
  });

  it('is safe to repeat: no second cluster, and no other password over a database that has one', async () => {
    const made = (): string[] => calls().filter((call) => /create (cluster|secret)/.test(call));
    const before = made();
    expect(before).toHaveLength(4);
    await run();
    expect(made()).toEqual(before);
  });
});
