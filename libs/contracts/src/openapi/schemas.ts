import { z } from 'zod';
import * as contracts from '../index.js';
import type { Json } from './json.js';

/** Formats whose pattern says nothing more: it is long, and tools that make values of a pattern take minutes for it. */
const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'date', 'uuid', 'email']);

/** Leaves out patterns that a reader of the document is better off without. Classes of Unicode are read by few tools, and refused by some with the whole document. */
function readable(this: Json, key: string, value: unknown): unknown {
  const pattern = key === 'pattern' && typeof value === 'string';
  return pattern && (FORMATS.has(this['format']) || /\\p\{/i.test(value)) ? undefined : value;
}

export type Direction = 'input' | 'output';

/** Schemas of one document: those that have an exported name become components, whoever reaches them. */
export class DocumentSchemas {
  private readonly names: ReadonlyMap<z.ZodType, string> = new Map(
    Object.entries(contracts).flatMap(([name, value]) => (value instanceof z.ZodType ? [[value, name] as const] : [])),
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
    for (const [named, id] of this.names) metadata.add(named, named === schema ? { ...z.globalRegistry.get(named) } : { ...z.globalRegistry.get(named), id });
    const { $schema: _, $defs, ...text } = z.toJSONSchema(schema, { io: direction, metadata, unrepresentable: 'any', reused: 'inline' }) as Json;
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
