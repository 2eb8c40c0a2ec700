import { Readable } from 'node:stream';
import { ARCHIVE_PARTS } from '@slipway/contracts/agent';
import type { WorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import { type CopyResult, copyEach } from './copy-each.js';

/** Longest copy of one workspace: 15 minutes, as a pause has. Milliseconds. */
const WORKSPACE_TIMEOUT_MS = 900_000;

/**
 * Copies every workspace of one store into another. A workspace that is in both is replaced; one that is in the target
 * alone stays. One that cannot be copied is named in `failed`, and the others are copied all the same.
 * @throws SlipwayError `sandbox.archive-unavailable` when the source cannot be listed: nothing was copied then.
 */
export async function copyWorkspaces(
  from: WorkspaceStore,
  to: WorkspaceStore,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<CopyResult> {
  const names = [...(await from.list(signal))].sort();
  const copy = (name: string, within: AbortSignal): Promise<number> => copyWorkspace(from, to, name, within);
  return copyEach(
    Readable.from(names) as AsyncIterable<string>,
    {
      nameOf: (name) => name,
      copy,
      timeoutMs: WORKSPACE_TIMEOUT_MS,
      onCopied: (name, bytes) => log(`copied ${name} (${bytes} bytes)`),
      log,
    },
    signal,
  );
}

async function copyWorkspace(
  from: WorkspaceStore,
  to: WorkspaceStore,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  await to.mark(name, signal);
  let bytes = 0;
  for (const part of ARCHIVE_PARTS) {
    const source = await from.get(name, part, signal);
    if (source !== null) bytes += (await to.put(name, part, source, signal)).bytes;
  }
  return bytes;
}
