// Who may import whom (docs/architecture.md), checked on the source: run by `npm run check`, or alone: `node
// tools/arrows.ts [ROOT]`.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findCycles } from './check/cycles.ts';
import { importsOf } from './check/imports.ts';
import { writtenTraceHeader } from './check/trace-headers.ts';

/**
 * Which of our libraries each of them may import. An app may import any but `testing` and `ui`; web has a row of its
 * own.
 */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  net: [],
  domain: ['contracts'],
  telemetry: ['contracts'],
  errors: ['contracts', 'telemetry'],
  service: ['contracts', 'errors', 'telemetry'],
  outside: ['net', 'errors'],
  archive: ['contracts', 'errors'],
  checkpoint: ['contracts', 'errors'],
  db: ['contracts', 'domain', 'errors', 'telemetry'],
  auth: ['contracts', 'domain', 'errors', 'telemetry', 'db'],
  queue: ['contracts', 'domain', 'errors', 'telemetry', 'db'],
  llm: ['contracts', 'domain', 'errors', 'telemetry'],
  sandbox: ['contracts', 'domain', 'net', 'errors', 'telemetry'],
  integrations: ['contracts', 'domain', 'outside', 'errors', 'telemetry', 'db', 'auth'],
  analytics: ['contracts', 'domain', 'errors', 'telemetry', 'db'],
  agent: ['contracts', 'domain', 'errors', 'telemetry', 'llm'],
  'agent-client': ['contracts', 'domain', 'errors', 'telemetry'],
  'api-client': ['contracts'],
  ui: [],
  testing: ['contracts', 'domain', 'errors', 'telemetry', 'db'],
};
const WEB = ['contracts', 'domain', 'ui', 'api-client'];
/** What runs in a sandbox gets no database and no queue. */
const NOT_IN_SANDBOX = ['db', 'queue', 'auth', 'integrations', 'analytics'];

/** A package that only these folders may import. */
const VENDORS: readonly { readonly name: RegExp; readonly only: RegExp; readonly why: string }[] = [
  {
    name: /^@kubernetes\/client-node/,
    only: /^libs\/sandbox\/src\/adapters\/kubernetes\//,
    why: 'only the Kubernetes adapter talks to a cluster',
  },
  {
    name: /^@aws-sdk\//,
    only: /^libs\/sandbox\/src\/(store|packs|adapters\/kubernetes\/archive)\//,
    why: 'only the stores of workspaces and packs talk to S3',
  },
  { name: /^@prisma\//, only: /^libs\/db\/src\//, why: 'Prisma’s client is made in libs/db' },
  { name: /^(bullmq|ioredis)(\/|$)/, only: /^libs\/(queue|testing)\/src\//, why: 'the queue hides what carries it' },
  {
    name: /^(keycloak-connect|openid-client)(\/|$)/,
    only: /^libs\/auth\/src\//,
    why: 'tokens are verified in one place',
  },
  {
    name: /^(posthog-node|@openfeature\/)/,
    only: /^libs\/analytics\/src\//,
    why: 'one place decides what PostHog receives',
  },
  {
    name: /^@lydell\/node-pty$/,
    only: /^apps\/action-server\/src\/(terminal|live-terminal)\//,
    why: 'a terminal belongs to the agent or to a user',
  },
  {
    name: /^@nestjs\//,
    only: /^(apps\/|libs\/(errors\/src\/nest|auth|telemetry)\/)/,
    why: 'libraries below the apps know no framework',
  },
  {
    name: /^@opentelemetry\//,
    only: /^(libs\/telemetry\/src\/tracing|apps\/worker\/src\/traces?)\//,
    why: 'what stands behind a trace is chosen in libs/telemetry',
  },
  {
    name: /^undici$/,
    only: /^(libs\/(outside|llm|agent-client)\/src\/|libs\/integrations\/src\/calls\/provider-dispatch\.ts$|apps\/(llm-gateway|sandbox-gateway|agent-server|action-server)\/src\/|apps\/worker\/src\/clients\/)/,
    why: 'an address that a tenant may steer is called through libs/outside',
  },
  { name: /^(react|next)(\/|$)/, only: /^(apps\/web|libs\/ui)\//, why: 'the server renders no screens' },
];

const isTest = (file: string): boolean => /\.test\.tsx?$|\/testing(\.ts$|\/)|\/test-[\w-]+\.ts$/.test(file);
/** The process' environment is read once, at its edge. Prisma's generated client only documents it. */
const MAY_READ_ENVIRONMENT =
  /\/(config|main)\.ts$|\/generated\/|^libs\/testing\/|^apps\/web\/(next\.config|src\/server-config)\.ts$/;

/** Where addresses come from tenants: nothing there opens a connection of its own. */
const STEERED =
  /^(libs\/integrations\/src|apps\/app-server\/src\/(integrations|organizations)|apps\/worker\/src\/(integrations|webhooks|pull-requests))\//;
const OPENS_CONNECTION = /(?<![.\w])(?:globalThis\.)?fetch\(|\bhttps?\.(?:request|get)\(|\bnew WebSocket\(/;

interface Project {
  readonly folder: string;
  readonly name: string;
  readonly dependencies: ReadonlySet<string>;
  readonly files: readonly string[];
}

/** Every violation as `file: what is wrong`; none when the arrows hold. */
export function checkArrows(root: string): string[] {
  const projects = ['libs', 'apps'].flatMap((kind) =>
    directories(path.join(root, kind)).map((name) => readProject(root, `${kind}/${name}`)),
  );
  const exports = new Map(projects.map((project) => [project.name, exportsOf(root, project.folder)]));
  return projects.flatMap((project) => checkProject(root, project, exports));
}

function checkProject(root: string, project: Project, exports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found: string[] = [];
  const edges = new Map<string, string[]>();
  for (const file of project.files) {
    const source = readFileSync(path.join(root, file), 'utf8');
    if (!MAY_READ_ENVIRONMENT.test(file) && !isTest(file) && /\bprocess\.env\b/.test(source))
      found.push(`${file}: reads process.env; take it as an argument, it is read in config.ts or main.ts`);
    if (STEERED.test(file) && !isTest(file) && !file.endsWith('/provider-dispatch.ts') && OPENS_CONNECTION.test(source))
      found.push(`${file}: opens a connection; an address that a tenant may steer is called through libs/outside`);
    const header = isTest(file) ? null : writtenTraceHeader(file, source);
    if (header !== null) found.push(`${file}: ${header}`);
    for (const specifier of importsOf(file, source)) {
      const target = specifier.startsWith('.') ? resolveRelative(project, file, specifier) : null;
      if (target === 'outside')
        found.push(`${file}: imports ${specifier}, which is another project's source; import the package`);
      else if (target === null)
        found.push(
          ...checkPackage(project, file, specifier, exports).map(
            (problem) => `${file}: imports ${specifier}: ${problem}`,
          ),
        );
      // Types too: neither file can be read without the other. Prisma writes its own circles.
      else if (!file.includes('/generated/')) edges.set(file, [...(edges.get(file) ?? []), target]);
    }
  }
  found.push(
    ...findCycles(edges).map(
      (cycle) =>
        `${cycle[0]}: is in an import cycle: ${[...cycle, cycle[0]].map((file) => path.posix.basename(file as string)).join(' → ')}`,
    ),
  );
  return found;
}

function checkPackage(
  project: Project,
  file: string,
  specifier: string,
  exports: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const [kind, own] = project.folder.split('/') as ['libs' | 'apps', string];
  const vendor = VENDORS.find(({ name, only }) => name.test(specifier) && !only.test(file) && !isTest(file));
  if (vendor !== undefined) return [vendor.why];
  const ours = /^@slipway\/([\w-]+)(\/.+)?$/.exec(specifier);
  if (ours === null) return [];
  const [, name = '', subpath = ''] = ours;
  if (name === own) return ['a project imports its own files by their path'];
  const offered = exports.get(`@slipway/${name}`);
  if (offered === undefined) return ['there is no such project'];
  if (!(name in LIBRARIES)) return ['no project imports an app'];
  if (!offered.has(`.${subpath}`)) return ['the package does not offer this path; its package.json lists what it does'];
  if (!project.dependencies.has(`@slipway/${name}`))
    return [`add "@slipway/${name}": "*" to ${project.folder}/package.json and run node tools/tsconfigs.mjs`];
  if (name === 'testing') return isTest(file) ? [] : ['only tests import the testing library'];
  if (own === 'web') return WEB.includes(name) ? [] : [`web imports ${WEB.join(', ')} only`];
  if (kind === 'libs')
    return LIBRARIES[own]?.includes(name) || isTest(file)
      ? []
      : [`libs/${own} may import ${LIBRARIES[own]?.join(', ') || 'no other project'}`];
  if (name === 'ui' || name === 'api-client') return ['only web has screens'];
  if ((own === 'agent-server' || own === 'action-server') && NOT_IN_SANDBOX.includes(name))
    return ['a sandbox holds no key to the database'];
  return [];
}

/** The file that a relative import means, `outside` of the project, or `null` for what is no source file. */
function resolveRelative(project: Project, file: string, specifier: string): string | 'outside' | null {
  const target = path.posix.join(path.posix.dirname(file), specifier);
  if (!target.startsWith(`${project.folder}/`)) return 'outside';
  const stem = target.replace(/\.(js|jsx|ts|tsx)$/, '');
  return (
    [`${stem}.ts`, `${stem}.tsx`, `${stem}/index.ts`].find((candidate) => project.files.includes(candidate)) ?? null
  );
}

function readProject(root: string, folder: string): Project {
  const manifest = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as {
    name: string;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  return {
    folder,
    name: manifest.name,
    dependencies: new Set([
      ...Object.keys(manifest.dependencies ?? {}),
      ...Object.keys(manifest.devDependencies ?? {}),
    ]),
    files: sources(root, `${folder}/src`),
  };
}

function exportsOf(root: string, folder: string): ReadonlySet<string> {
  const { exports = {} } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as {
    exports?: Record<string, unknown>;
  };
  return new Set(Object.keys(exports));
}

function directories(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .filter((name) => readdirSync(path.join(folder, name)).includes('package.json'));
}

function sources(root: string, folder: string): string[] {
  try {
    return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`);
  } catch {
    return [];
  }
}

if (import.meta.filename === process.argv[1]) {
  const found = checkArrows(path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..')));
  for (const violation of found) console.log(violation);
  process.exit(found.length === 0 ? 0 : 1);
}
