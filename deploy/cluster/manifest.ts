import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestCluster } from '@slipway/testing/cluster';

export type Variables = Readonly<Record<string, string>>;

/**
 * Applies a manifest of this folder with its variables: as JSON strings, which are YAML. @throws Error when it names
 * one that is not there, or the cluster refuses it.
 */
export async function applyManifest(cluster: TestCluster, name: string, variables: Variables): Promise<void> {
  const text = await readFile(path.join(import.meta.dirname, name), 'utf8');
  const filled = text.replace(/"\$\{([A-Z_]+)\}"/g, (_, variable: string) => {
    const value = variables[variable];
    if (value === undefined) throw new Error(`${name}: there is no variable ${variable}`);
    return JSON.stringify(value);
  });
  await cluster.kubectl(['apply', '-f', '-'], filled);
}

/** Every deployment beside Slipway answers. */
export async function besideReady(cluster: TestCluster): Promise<void> {
  await cluster.kubectl([
    '-n',
    'slipway-beside',
    'wait',
    'deployment',
    '--all',
    '--for=condition=Available',
    '--timeout=50s',
  ]);
}
