import type { Readable } from 'node:stream';
import { matchesPath } from '@slipway/net';
import { FLUSH, PktLineReader, pktLine } from './pkt-lines.js';

/** Most that is read of a push before its pack. Bytes, references. */
const MAX_COMMAND_BYTES = 64 * 1024;
const MAX_REFS = 1_000;
/** Longest payload of one line of a side band, without its number. Bytes. */
const BAND_BYTES = 65_515;
const COMMAND = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (\S+)$/;
const SHALLOW = /^shallow [0-9a-f]{40,64}\n?$/;

/** What a push asks for: the lines before its pack. */
export interface Push {
  readonly commands: readonly PushCommand[];
  readonly capabilities: ReadonlySet<string>;
  /** All bytes that were read, to be sent on before what is left in the stream. */
  readonly held: Buffer;
  /** Why it cannot be judged; `null`: it can. */
  readonly problem: string | null;
}

export interface PushCommand {
  readonly ref: string;
  readonly deletes: boolean;
}

/** Reads a push up to the flush before its pack. Errors of the stream are thrown. */
export async function readPush(body: Readable): Promise<Push> {
  const reader = new PktLineReader();
  const commands: PushCommand[] = [];
  const chunks: Buffer[] = [];
  let length = 0;
  let capabilities: ReadonlySet<string> = new Set<string>();
  const push = (problem: string | null): Push => ({
    commands,
    capabilities,
    held: Buffer.concat(chunks),
    problem: problem ?? problemOf(commands, capabilities),
  });
  for (;;) {
    const line = nextLine(reader);
    if (line === 'broken') return push('this is no push of git');
    if (line === null) break;
    if (line === undefined) {
      // What follows the flush in the same chunk does not count.
      if (length > MAX_COMMAND_BYTES) return push('it names too many references');
      const chunk = await nextChunk(body);
      if (chunk === null) return push('it ends before its pack');
      chunks.push(chunk);
      length += chunk.length;
      reader.push(chunk);
      continue;
    }
    if (commands.length >= MAX_REFS) return push(`it has more than ${MAX_REFS} references`);
    const text = line.toString('utf8');
    if (SHALLOW.test(text)) continue;
    const [named = '', offered] = text.replace(/\n$/, '').split('\0', 2);
    if (offered !== undefined && commands.length === 0) capabilities = new Set(offered.trim().split(' '));
    const [, , to, ref] = COMMAND.exec(named) ?? [];
    if (to === undefined || ref === undefined) return push('signed pushes and unknown commands are not passed on');
    commands.push({ ref, deletes: /^0+$/.test(to) });
  }
  if (commands.length > 0) return push(null);
  // Before a large push git tries the way with nothing but a flush.
  const more = reader.rest.length > 0 ? reader.rest : await nextChunk(body);
  return push(more === null ? null : 'it has a pack and names no reference');
}

function problemOf(commands: readonly PushCommand[], capabilities: ReadonlySet<string>): string | null {
  if (capabilities.has('push-options')) return 'push options (-o) are not passed on';
  return new Set(commands.map(({ ref }) => ref)).size < commands.length ? 'it names a reference twice' : null;
}

function nextLine(reader: PktLineReader): ReturnType<PktLineReader['next']> | 'broken' {
  try {
    return reader.next();
  } catch {
    return 'broken';
  }
}

/** `null` at the end. */
function nextChunk(body: Readable): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const off = (): void => void body.off('readable', look).off('end', end).off('close', end).off('error', failed);
    const look = (): void => {
      const chunk = body.read() as Buffer | null;
      if (chunk === null) return;
      off();
      resolve(chunk);
    };
    const end = (): void => {
      off();
      resolve(null);
    };
    const failed = (error: Error): void => {
      off();
      reject(error);
    };
    body.on('readable', look).once('end', end).once('close', end).once('error', failed);
    if (body.readableEnded || body.destroyed) end();
    else look();
  });
}

/**
 * Why each reference may not be pushed; empty where all may. One that may not keeps the others back: a push is one.
 * @param allowed patterns of branches.
 */
export function judgePush({ commands, problem }: Push, allowed: readonly string[]): Map<string, string> {
  const refused = new Map<string, string>();
  for (const { ref, deletes } of commands) {
    const reason = problem ?? reasonOf(ref, deletes, allowed);
    if (reason !== null) refused.set(ref, reason);
  }
  if (refused.size > 0)
    for (const { ref } of commands)
      if (!refused.has(ref)) refused.set(ref, 'not pushed, because another reference of this push may not be');
  return refused;
}

function reasonOf(ref: string, deletes: boolean, allowed: readonly string[]): string | null {
  if (deletes) return 'references are not deleted';
  if (!ref.startsWith('refs/heads/')) return 'only branches may be pushed';
  if (!/\.\.|[^!-~]/.test(ref) && allowed.some((pattern) => matchesPath(`/${pattern}`, `/${ref}`))) return null;
  return allowed.length === 0 ? 'nothing may be pushed here' : `only ${allowed.slice(0, 5).join(', ')} may be pushed`;
}

/** The answer that git shows as the reason of each reference, beside a sentence where it listens for one. */
export function refusedPush(
  refused: ReadonlyMap<string, string>,
  capabilities: ReadonlySet<string>,
  sentence: string,
): Buffer {
  const report = Buffer.concat([
    pktLine('unpack ok\n'),
    ...Array.from(refused, ([ref, reason]) => pktLine(`ng ${ref} slipway: ${reason}\n`)),
    FLUSH,
  ]);
  const reports = capabilities.has('report-status') || capabilities.has('report-status-v2');
  if (!capabilities.has('side-band-64k')) return reports ? report : FLUSH;
  const lines = [pktLine(`\u0002slipway: ${sentence}\n`)];
  for (let at = 0; reports && at < report.length; at += BAND_BYTES)
    lines.push(pktLine(Buffer.concat([Buffer.of(1), report.subarray(at, at + BAND_BYTES)])));
  return Buffer.concat([...lines, FLUSH]);
}
