import path from 'node:path';
import type { Config } from 'jest';
import { WORKERS } from './queue.ts';
import { findSuites, type Suite } from './suites.ts';

const root = path.resolve(import.meta.dirname, '../..');
const tool = (file: string): string => path.join(import.meta.dirname, file);

/** Test files are named by their source; tools/test/runner.ts runs what `tsc -b` made of them (docs/decisions/0047). */
const projectOf = ({ name, cwd, folder, files }: Suite): NonNullable<Config['projects']>[number] => ({
  displayName: name,
  rootDir: cwd,
  roots: [path.join(cwd, folder)],
  testMatch: files.length > 0 ? ['**/*.test.{ts,tsx}'] : [],
  testPathIgnorePatterns: ['/node_modules/'],
  runner: tool('runner.ts'),
  transform: {},
  injectGlobals: false,
});

export default {
  rootDir: root,
  projects: findSuites(root).map(projectOf),
  // Each file starts processes of its own.
  maxWorkers: WORKERS,
  maxConcurrency: 4,
  testTimeout: 600_000,
  testSequencer: tool('sequencer.ts'),
  globalSetup: tool('compile.ts'),
  reporters: ['default', tool('skip-reporter.ts')],
  coverageProvider: 'v8',
  watchman: false,
} satisfies Config;
