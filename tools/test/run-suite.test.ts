import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { expect } from 'expect';
import { countsOf, type FileResult, type runSuite, type SuiteResult } from './run-suite.ts';

const RUN_SUITE = path.join(import.meta.dirname, 'run-suite.ts');

describe('running a suite', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-suite-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** In a process of its own: the runner refuses to run inside of a test. */
  const run = (files: Record<string, string>, limits: Parameters<typeof runSuite>[2] = {}): FileResult[] => {
    for (const [name, source] of Object.entries(files)) writeFileSync(path.join(folder, name), source);
    const suite = { name: 'planted', cwd: folder, files: Object.keys(files), beside: 'any' as const };
    const script = path.join(folder, 'main.mjs');
    const call = `runSuite(${JSON.stringify(suite)}, AbortSignal.timeout(60_000), ${JSON.stringify(limits)})`;
    writeFileSync(script, `import { runSuite } from ${JSON.stringify(RUN_SUITE)};\nconsole.log(JSON.stringify(await ${call}));\nprocess.exit(0);\n`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return (JSON.parse(execFileSync(process.execPath, [script], { env, encoding: 'utf8' })) as SuiteResult).files;
  };

  it('counts what passed, failed and was skipped, each once and with its reason', () => {
    const [mixed] = run({
      'mixed.test.mjs': `import { describe, it } from 'node:test'; import assert from 'node:assert';
        describe('outer', () => { it('passes', () => {}); describe('inner', () => { it('fails', () => assert.equal(1, 2)); }); it('waits', { skip: 'no moon' }, () => {}); });
        it('at the top', () => {});`,
    });
    expect([mixed?.passed, mixed?.failures.map(({ name }) => name), mixed?.skips]).toEqual([
      2,
      ['outer › inner › fails'],
      [{ name: 'outer › waits', reason: 'no moon' }],
    ]);
    expect(mixed?.failures[0]?.message).toContain('1 == 2');
  });

  it('counts a file that cannot be loaded, one that ends its process, and a hook that throws as failures', () => {
    const files = run({
      'broken.test.mjs': "import './nowhere.mjs';",
      'exits.test.mjs': "import { it } from 'node:test'; it('ends', () => process.exit(3));",
      'hook.test.mjs':
        "import { before, describe, it } from 'node:test'; describe('hooked', () => { before(() => { throw new Error('in the hook'); }); it('never', () => {}); });",
    });
    expect(countsOf(files).passed).toBe(0);
    expect(files.map(({ file, failures }) => [file, failures.length > 0])).toEqual([
      ['broken.test.mjs', true],
      ['exits.test.mjs', true],
      ['hook.test.mjs', true],
    ]);
    expect(JSON.stringify(files)).toContain('in the hook');
  });

  it('ends a file that does not end, and counts that as a failure beside its others', () => {
    const files = run(
      {
        'open.test.mjs': "import { it } from 'node:test'; it('fails', () => { setInterval(() => {}, 1_000); throw new Error('no'); }); it('passes', () => {});",
        'next.test.mjs': "import { it } from 'node:test'; it('passes', () => {});",
      },
      { fileTimeoutMs: 3_000 },
    );
    expect(files.map(({ passed, failures }) => [passed, failures.length])).toEqual([
      [1, 2],
      [1, 0],
    ]);
    expect(files[0]?.failures[1]?.message).toContain('had not ended after 3 s');
  });

  it('ends a file with a failure that says nothing any more long before the time of a file', () => {
    const [file] = run(
      { 'stuck.test.mjs': "import { it } from 'node:test'; it('fails', () => { setInterval(() => {}, 1_000); throw new Error('no'); });" },
      { failedSilenceMs: 1_000 },
    );
    expect(file?.failures.map(({ message }) => message)).toEqual([expect.stringContaining('no'), expect.stringContaining('had not ended 1 s after a failure')]);
  });
});
