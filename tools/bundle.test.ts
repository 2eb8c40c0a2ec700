import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { markPure } from './bundle-pure.mjs';

/** What stays of a module of which only `Used` is used. */
async function keptOf(module: string): Promise<string> {
  const made = await build({
    stdin: { contents: `${markPure('module.js', module)}\nconsole.log(Used);` },
    bundle: true,
    write: false,
    format: 'esm',
    external: ['zod'],
  });
  return made.outputFiles[0]?.text ?? '';
}

describe('a bundle', () => {
  it('leaves out values that nobody uses, and what only they need', async () => {
    const kept = await keptOf(`import * as z from 'zod';
const base = z.object({ a: z.string().min(1) });
const Used = z.object({ ...base.shape, b: z.int() }).strict(), Lost = base.extend({ c: z.literal('lost') });
const Unused = later(z.object({ ...Lost.shape }).meta({ id: 'Unused' }));
function later(schema) { return schema; }`);
    expect(kept).toContain('z.string().min(1)');
    expect(kept).not.toMatch(/lost|Unused|later/);
  });

  it('keeps the values as they are, in their order', async () => {
    const kept = await keptOf(`const seen = [];
const first = seen.push('é'), second = seen.push(\`\${first}\`);
const { length } = seen;
const Used = { seen, second, length, get late() { return this.seen; } };`);
    const log: unknown[] = [];
    new Function('console', kept)({ log: (value: unknown) => log.push(value) });
    expect(log).toEqual([{ seen: ['é', '1'], second: 2, length: 2, late: ['é', '1'] }]);
  });
});
