import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const ServerProcess = z.object({ pid: z.int().positive(), startTime: z.string(), port: z.int().positive() });
export type ServerProcess = z.infer<typeof ServerProcess>;

/** `sandbox.json`: all that another runtime-api process needs in order to take a sandbox over. */
const SandboxRecord = z.object({
  name: z.string(),
  slotId: z.string(),
  uid: z.string(),
  createdAt: z.string(),
  /** Name of the workspace; the sandbox's own until another is attached. */
  workspace: z.string(),
  /** Shared by the two processes of this sandbox. Secret: the file is for its owner only. */
  token: z.string(),
  /** `starting` is written before anything runs, so that what a crash leaves half-started is found. */
  phase: z.enum(['starting', 'running', 'ended']),
  endReason: z.string().nullable(),
  agentServer: ServerProcess.nullable(),
  actionServer: ServerProcess.nullable(),
  restarts: z.object({ count: z.int().nonnegative(), reasons: z.array(z.string()) }),
});
export type SandboxRecord = Readonly<z.infer<typeof SandboxRecord>>;

/** `null` when there is none, or it cannot be read: the sandbox cannot be taken over. */
export async function readRecord(directory: string): Promise<SandboxRecord | null> {
  const text = await readFile(path.join(directory, 'sandbox.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return SandboxRecord.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Atomic: a reader sees the old record or the new one, also after a crash. */
export async function writeRecord(directory: string, record: SandboxRecord): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = path.join(directory, `sandbox.json.${process.pid}`);
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path.join(directory, 'sandbox.json'));
}
