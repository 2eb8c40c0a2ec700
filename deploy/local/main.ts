import path from 'node:path';
import { modelsSaid } from './models-said.ts';
import { ROOT } from './settings.ts';
import { startStack } from './stack.ts';

const port = Number(process.env['SLIPWAY_PORT'] ?? 3000);
const dataDirectory = process.env['SLIPWAY_DATA_DIR'] ?? path.join(ROOT, '.data', String(port));
const began = Number(process.env['SLIPWAY_BEGAN'] ?? Date.now());
const seconds = (): string => ((Date.now() - began) / 1000).toFixed(1);
const stopping = new AbortController();

process.stderr.write('Starting Slipway …\n');
try {
  if (!Number.isInteger(port) || port < 1 || port > 65_000)
    throw new Error(`SLIPWAY_PORT is not a port: ${process.env['SLIPWAY_PORT']}`);
  const starting = startStack({
    port,
    dataDirectory,
    env: process.env,
    signal: stopping.signal,
    log: (line) => void process.stderr.write(`  ${seconds().padStart(5)} s  ${line}\n`),
  });
  const stop = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort(new Error('stopped'));
    process.stderr.write('\nStopping …\n');
    const stack = await starting.catch(() => null);
    await stack?.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
  const stack = await starting;
  process.stdout.write(`
Slipway is ready after ${seconds()} s.

  Open      ${stack.url}
  Sign in   demo / demo   (or register on the same page)
  Try       "Look around and leave a short note about what you find", with or without a repository URL
  Models    ${modelsSaid(process.env)}
  Sandboxes ${stack.sandboxes}
  Data      ${dataDirectory}   (logs in logs/)

Ctrl-C stops everything; conversations are kept.
`);
} catch (error) {
  if (!stopping.signal.aborted) {
    process.stderr.write(`\nSlipway failed to start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
