import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ROOT } from '../image-parts.ts';
import { datadogPlugins, withoutBuildPaths } from './datadog/bundle-plugins.ts';

/**
 * Asked for by libraries and not installed here: each asks in a way that bears its absence. Everything else must be
 * found, or the build fails.
 */
const NOT_INSTALLED = [
  '@nestjs/microservices',
  '@nestjs/platform-socket.io',
  '@nestjs/platform-express',
  'class-validator',
  'class-transformer',
  '@fastify/static',
  '@fastify/view',
  '@fastify/multipart',
  'pg-native',
  'bufferutil',
  'utf-8-validate',
  'pino-pretty',
  '@valkey/valkey-glide',
];

/**
 * Nest loads it wherever it is. An app without a gateway does not depend on it: it would only start later and larger.
 */
const GATEWAYS = '@nestjs/websockets';

/** Libraries that are CommonJS call these; an ES module has none of them. */
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  "import { dirname as __directoryOf } from 'node:path';",
  'const require = __createRequire(import.meta.url), __filename = __fileURLToPath(import.meta.url), __dirname = __directoryOf(__filename);',
].join('\n');

export interface Bundle {
  readonly content: Buffer;
  /** Folders of the npm packages that something in it comes from, relative to the root of the checkout. */
  readonly packages: readonly string[];
}

export interface BundleOptions {
  /** `datadogFolder`'s: dd-trace sees the packages in the bundle when it is preloaded. [it sees none] */
  readonly datadog?: string | undefined;
  /** [this checkout] */
  readonly root?: string;
}

/**
 * One ES module of everything that `entry`, a built file relative to the checkout, imports. Names and lines stay
 * legible, so that a stack trace in a log says something without a source map. The same files make the same bytes.
 *
 * @throws Error that names what is missing: the app's own build, or a module.
 */
export async function bundleProgram(entry: string, { datadog, root = ROOT }: BundleOptions = {}): Promise<Bundle> {
  if (!existsSync(path.join(root, entry)))
    throw new Error(`${entry} does not exist: the app is not built. Run \`npm run build\`.`);
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: 'main.js',
    write: false,
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    external: notIn(root, entry).flatMap((name) => [name, `${name}/*`]),
    legalComments: 'none',
    sourcemap: false,
    banner: { js: BANNER },
    logLevel: 'silent',
    ...(datadog === undefined
      ? {}
      : { plugins: datadogPlugins(datadog, BANNER), nodePaths: [path.join(datadog, 'node_modules')] }),
  });
  const packages = new Set<string>();
  for (const input of Object.keys(result.metafile.inputs)) {
    const folder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (folder !== undefined) packages.add(folder);
  }
  const { text } = result.outputFiles[0]!;
  return {
    content: Buffer.from(datadog === undefined ? text : withoutBuildPaths(text, root, datadog)),
    packages: [...packages].sort(),
  };
}

/** Packages that the app of this entry runs without. */
function notIn(root: string, entry: string): readonly string[] {
  const manifest = findPackageJSON(pathToFileURL(path.join(root, entry)));
  const { dependencies = {} } = JSON.parse(readFileSync(manifest ?? '', 'utf8')) as { dependencies?: object };
  return GATEWAYS in dependencies ? NOT_INSTALLED : [...NOT_INSTALLED, GATEWAYS];
}
