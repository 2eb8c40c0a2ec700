import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

interface Property {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

/** `docs/configuration.md`, from the `ConfigSchema` that each built app's `config.js` exports. `missing` names built apps that export none. */
export async function configuration(root: string): Promise<{ file: GeneratedFile; missing: string[] }> {
  const sections: string[] = [];
  const missing: string[] = [];
  for (const app of readdirSync(path.join(root, 'apps')).sort()) {
    const dist = path.join(root, 'apps', app, 'dist');
    if (!existsSync(dist)) continue;
    const module_ = path.join(dist, 'config.js');
    const exported = existsSync(module_) ? ((await import(pathToFileURL(module_).href)) as Record<string, unknown>) : {};
    const schema = exported['ConfigSchema'] ?? exported['Env'];
    if (schema instanceof z.ZodType) sections.push(section(app, schema));
    else missing.push(app);
  }
  const content = `<!-- ${NOTICE} -->\n# Configuration\n\nEach app reads its environment once, in \`config.ts\`; a wrong value ends the start with a list that names every wrong variable. A variable without a default is required unless it is marked optional.\n\n${sections.join('\n')}`;
  return { file: { path: 'docs/configuration.md', content }, missing };
}

function section(app: string, schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as { properties?: Record<string, Property>; required?: string[] };
  const required = new Set(json.required ?? []);
  const rows = Object.entries(json.properties ?? {}).map(
    ([name, property]) =>
      `| \`${name}\` | ${defaultOf(name, property, required)} | ${allowed(property)} | ${(property.description ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')} |`,
  );
  return `## ${app}\n\n| variable | default | values | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function defaultOf(name: string, property: Property, required: ReadonlySet<string>): string {
  if (property.default !== undefined) return `\`${String(property.default)}\``;
  return required.has(name) ? 'required' : 'optional';
}

function allowed(property: Property): string {
  if (property.enum !== undefined) return property.enum.map((value) => `\`${String(value)}\``).join(', ');
  const bounds = [property.minimum, property.maximum].map((bound) => (bound === undefined || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound));
  if (bounds[0] !== undefined && bounds[1] !== undefined) return `${bounds[0]} to ${bounds[1]}`;
  if (bounds[0] !== undefined) return `from ${bounds[0]}`;
  if (property.minLength !== undefined && property.minLength > 1) return `at least ${property.minLength} characters`;
  return '';
}
