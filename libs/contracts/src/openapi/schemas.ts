import { z } from 'zod';
import * as actions from '../actions/index.js';
import * as agent from '../agent/index.js';
import * as audit from '../audit/index.js';
import * as conversations from '../conversations/index.js';
import * as credentials from '../credentials/index.js';
import * as errors from '../errors/index.js';
import * as events from '../events/index.js';
import * as identity from '../identity/index.js';
import * as integrations from '../integrations/index.js';
import * as live from '../live/index.js';
import * as models from '../models/index.js';
import * as openhands from '../openhands/index.js';
import * as operate from '../operate/index.js';
import * as operations from '../operations/index.js';
import * as organizations from '../organizations/index.js';
import * as repositories from '../repositories/index.js';
import * as sandboxes from '../sandboxes/index.js';
import * as secrets from '../secrets/index.js';
import * as spending from '../spending/index.js';
import type { Json } from './json.js';

const SUBJECTS = [
  actions,
  agent,
  audit,
  conversations,
  credentials,
  errors,
  events,
  identity,
  integrations,
  live,
  models,
  openhands,
  operate,
  operations,
  organizations,
  repositories,
  sandboxes,
  secrets,
  spending,
];

/** Formats whose pattern says nothing more: it is long, and tools that make values of a pattern take minutes for it. */
const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'date', 'uuid', 'email']);

/**
 * Leaves out patterns that a reader of the document is better off without. Classes of Unicode are read by few tools,
 * and refused by some with the whole document.
 */
function readable(this: Json, key: string, value: unknown): unknown {
  const pattern = key === 'pattern' && typeof value === 'string';
  return pattern && (FORMATS.has(this['format']) || /\\p\{/i.test(value)) ? undefined : value;
}

export type Direction = 'input' | 'output';

/** Schemas of one document: those that have an exported name become components, whoever reaches them. */
export class DocumentSchemas {
  private readonly names: ReadonlyMap<z.ZodType, string> = new Map(
    SUBJECTS.flatMap((subject) => Object.entries<unknown>(subject)).flatMap(([name, value]) =>
      value instanceof z.ZodType ? [[value, name] as const] : [],
    ),
  );
  private readonly used = { input: new Map<z.ZodType, string>(), output: new Map<z.ZodType, string>() };

  /** A reference when the schema has a name, its text when it has none. */
  of(schema: z.ZodType, direction: Direction): Json {
    const name = this.names.get(schema);
    if (name === undefined) return this.text(schema, direction);
    this.used[direction].set(schema, name);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** zod writes named parts as `#/$defs/Name`: they become components. */
  text(schema: z.ZodType, direction: Direction): Json {
    const metadata = z.registry<{ id?: string }>();
    for (const [named, id] of this.names)
      metadata.add(
        named,
        named === schema ? { ...z.globalRegistry.get(named) } : { ...z.globalRegistry.get(named), id },
      );
    const {
      $schema: _,
      $defs,
      ...text
    } = z.toJSONSchema(schema, { io: direction, metadata, unrepresentable: 'any', reused: 'inline' }) as Json;
    for (const id of Object.keys(($defs ?? {}) as Json)) {
      const named = [...this.names].find(([, name]) => name === id)?.[0];
      if (named !== undefined) this.used[direction].set(named, id);
    }
    return JSON.parse(JSON.stringify(text, readable).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  }

  /** Every component that was reached until now. */
  components(): Json {
    return { ...this.componentsOf('output'), ...this.componentsOf('input') };
  }

  private componentsOf(direction: Direction): Json {
    const done: Json = {};
    // Writing one out can reach another that was not met before.
    for (let before = -1; before !== Object.keys(done).length; ) {
      before = Object.keys(done).length;
      for (const [schema, name] of [...this.used[direction]]) done[name] ??= this.text(schema, direction);
    }
    return Object.fromEntries(Object.entries(done).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
