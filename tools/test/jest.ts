import { runCLI } from 'jest';
import { type FileResult, fileResultOf } from './results.ts';

type Options = Parameters<typeof runCLI>[0];

/** Runs Jest in this process by the configuration at `config`. */
export async function jest(root: string, config: string, options: Partial<Options>): Promise<FileResult[]> {
  const { results } = await runCLI({ $0: 'jest', _: [], config, silent: true, reporters: [], ...options } as Options, [
    config,
  ]);
  return results.testResults.map((result) => fileResultOf(root, result));
}
