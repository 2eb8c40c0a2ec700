import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@slipway/testing';
import { type RunningProcess, startProcess, waitForHttp } from './child-process.ts';

export interface ServiceProcess extends RunningProcess {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Where its metrics are; `null` for a script. */
  readonly metricsUrl: string | null;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * One of our apps as a process of its own, ready.
 * @param env its configuration (docs/configuration.md); PORT [a free one], HOST [127.0.0.1] and LOG_LEVEL [warn] are
 * set here where it has none.
 * @throws Error with its output when it does not get ready.
 */
export async function startService(
  app: string,
  env: Readonly<Record<string, string>>,
  options: { entry?: string; readyPath?: string } = {},
): Promise<ServiceProcess> {
  const port = env['PORT'] === undefined ? await freePort() : Number(env['PORT']);
  const metricsPort = await freePort();
  const entry = path.resolve(ROOT, 'apps', app, options.entry ?? 'bundle/main.js');
  const running = startProcess(
    process.execPath,
    [entry],
    { HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'warn', ...env },
    ROOT,
  );
  const url = `http://${env['HOST'] ?? '127.0.0.1'}:${port}`;
  try {
    await waitForHttp(`${url}${options.readyPath ?? '/ready'}`, running);
  } catch (error) {
    await running.stop();
    throw new Error(`${app} did not start`, { cause: error });
  }
  return { ...running, url, metricsUrl: `http://${env['HOST'] ?? '127.0.0.1'}:${metricsPort}` };
}

/**
 * A script of bench/measure as a process of its own: `argv` is its port on 127.0.0.1 and what follows. Ready when GET /
 * answers 200.
 */
export function startScript(file: string, ...argv: readonly string[]): Promise<ServiceProcess> {
  return startLimitedScript([], file, ...argv);
}

/** As `startScript`, with options of Node such as the size of its heap. */
export function startLimitedScript(
  options: readonly string[],
  file: string,
  ...argv: readonly string[]
): Promise<ServiceProcess> {
  return startScriptWith({ options }, file, ...argv);
}

/** As `startScript`, with options of Node and variables. `file` may be a whole path. */
export async function startScriptWith(
  { options = [], env = {} }: { readonly options?: readonly string[]; readonly env?: Readonly<Record<string, string>> },
  file: string,
  ...argv: readonly string[]
): Promise<ServiceProcess> {
  const port = await freePort();
  const running = startProcess(
    process.execPath,
    [...options, fileURLToPath(new URL(file, import.meta.url)), String(port), ...argv],
    env,
  );
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitForHttp(url, running);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { ...running, url, metricsUrl: null };
}
