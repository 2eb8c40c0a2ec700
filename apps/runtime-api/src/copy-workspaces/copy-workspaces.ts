import { ARCHIVE_PARTS } from '@slipway/contracts/agent';
import type { WorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';

/** Workspaces that are copied at once. Each is one stream; a store answers some hundred requests a second. */
const AT_ONCE = 4;
/** Longest copy of one workspace: 15 minutes, as a pause has. Milliseconds. */
const WORKSPACE_TIMEOUT_MS = 900_000;

export interface CopyResult {
  readonly copied: number;
  readonly bytes: number;
  /** Names of workspaces that are not whole in the target. */
  readonly failed: readonly string[];
}

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
  const failed: string[] = [];
  let [copied, bytes] = [0, 0];
  const next = names.values();
  const worker = async (): Promise<void> => {
    for (const name of next) {
      try {
        const size = await copyWorkspace(
          from,
          to,
          name,
          AbortSignal.any([signal, AbortSignal.timeout(WORKSPACE_TIMEOUT_MS)]),
        );
        copied += 1;
        bytes += size;
        log(`copied ${name} (${size} bytes)`);
      } catch (error) {
        signal.throwIfAborted();
        failed.push(name);
        log(`failed to copy ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { copied, bytes, failed: failed.sort() };
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
