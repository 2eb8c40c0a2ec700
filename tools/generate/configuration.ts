import { existsSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type GeneratedFile, NOTICE } from './generated-file.ts';
import { prose } from './prose.ts';

interface Property {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

/** What means the same in every app. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  NODE_ENV: 'How the process was started. `production` refuses what is for a developer’s own machine.',
  LOG_LEVEL: 'Least severe log line that is written.',
  HOST: 'Address to listen on.',
  PORT: 'Port to listen on; 0 takes any free one.',
  DATABASE_URL: 'Postgres, as the app’s own role. Secret.',
  RUNTIME_API_URL: 'runtime-api as this app reaches it.',
  RUNTIME_API_KEY: 'What callers send to runtime-api as `X-API-Key`. Secret.',
  ACTION_SERVER_URL: 'action-server as agent-server reaches it.',
  POD_UID: 'Which start of the pod this sandbox is: an activation for another is refused.',
  OIDC_CLIENT_ID: 'The client’s name at the issuer.',
  OIDC_CLIENT_SECRET: 'The client’s secret at the issuer. Secret.',
  POST_LOGOUT_REDIRECT_URI: 'Where a browser goes after signing out.',
  HTTP_PROXY: 'Proxy for calls to http addresses.',
  HTTPS_PROXY: 'Proxy for calls to https addresses.',
  NO_PROXY: 'Hosts that are called without a proxy, with commas between them.',
  LLM_GATEWAY_URL: 'llm-gateway as this app reaches it.',
  LLM_GATEWAY_MASTER_KEY: 'Makes and deletes keys at llm-gateway. Secret.',
};

/**
 * `docs/configuration.md`, from the `ConfigSchema` that each built app's `config.js` exports. `missing` names built
 * apps that export none.
 */
export async function configuration(root: string): Promise<{ file: GeneratedFile; missing: string[] }> {
  const sections: string[] = [];
  const missing: string[] = [];
  for (const app of readdirSync(path.join(root, 'apps')).sort()) {
    const dist = path.join(root, 'apps', app, 'dist');
    if (!existsSync(dist)) continue;
    const module_ = path.join(dist, 'config.js');
    const exported = existsSync(module_)
      ? ((await import(pathToFileURL(module_).href)) as Record<string, unknown>)
      : {};
    const schema = exported['ConfigSchema'] ?? exported['Env'];
    if (schema instanceof z.ZodType)
      sections.push(
        section(app, schema, commentsIn(readFileSync(path.join(root, 'apps', app, 'src/config.ts'), 'utf8'))),
      );
    else missing.push(app);
  }
  const intro = prose(
    'For whoever configures an app by its environment. Each app reads it once, in `config.ts`. A wrong value ends the start with a list that names every wrong variable. A variable without a default is required unless it is marked optional.',
  );
  const links =
    'See also: [the chart’s values](../helm/slipway/README.md), [models](operate/models.md),\n[install](operate/install.md), [architecture](architecture.md).';
  const content = `<!-- ${NOTICE} -->\n# Configuration\n\n${intro}\n\n${sections.join('\n')}\n${links}\n`;
  return { file: { path: 'docs/configuration.md', content }, missing };
}

function section(app: string, schema: z.ZodType, comments: ReadonlyMap<string, string>): string {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  const required = new Set(json.required ?? []);
  const rows = Object.entries(json.properties ?? {}).map(
    ([name, property]) =>
      `| \`${name}\` | ${defaultOf(name, property, required)} | ${allowed(property)} | ${(property.description ?? comments.get(name) ?? EVERYWHERE[name] ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')} |`,
  );
  return `## ${app}\n\n| variable | default | values | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function defaultOf(name: string, property: Property, required: ReadonlySet<string>): string {
  const value = property.default === undefined ? undefined : String(property.default);
  // Made of this process: another one has another.
  if (value === `${os.hostname()}-${process.pid}`) return 'made at the start';
  if (value !== undefined) return `\`${value}\``;
  return required.has(name) ? 'required' : 'optional';
}

function allowed(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => `\`${String(value)}\``).join(', ');
  const bounds = [property.minimum, property.maximum].map((bound) =>
    bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound,
  );
  if (bounds[0] !== undefined && bounds[1] !== undefined) return `${bounds[0]} to ${bounds[1]}`;
  if (bounds[0] !== undefined) return `from ${bounds[0]}`;
  if (property.minLength !== undefined && property.minLength > 1) return `at least ${property.minLength} characters`;
  return '';
}

/** The doc comment before each variable in the source. */
function commentsIn(source: string): ReadonlyMap<string, string> {
  const comments = source.matchAll(/\/\*\*\s*(?:\*\s)?((?:(?!\*\/)[\s\S])*?)\s*\*\/\s*([A-Z][A-Z0-9_]+):/g);
  return new Map([...comments].map(([, text = '', name = '']) => [name, text.replaceAll(/\n\s*\*\s?/g, ' ')]));
}
