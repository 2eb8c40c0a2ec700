import { SlipwayError } from '@slipway/errors';
import { reasonOf, startProgram } from './child-program.js';

/** What tar writes of one entry beside its content: a header, one of times, and padding. Bytes. */
const ENTRY_BYTES = 1_536;

/**
 * Arguments of `find` that choose what is left out: what may not be read, and what is neither file nor directory nor
 * link.
 */
const LEFT_OUT =
  '( -type d ! ( -readable -executable ) -prune -o -type f ! -readable -o ! -type f ! -type d ! -type l )'.split(' ');

export interface Survey {
  /** About what a tar stream of it has: blocks on the disk, hard links once. */
  readonly bytes: number;
  readonly skipped: number;
}

/** Visits every entry below `names` (links to directories, in `folder`) without reading it. */
export async function survey(folder: string, names: readonly string[], signal: AbortSignal): Promise<Survey> {
  const find = await startProgram(
    'find',
    [...starts(names), ...LEFT_OUT, '-printf', '-\\n', '-o', '-printf', '%b %n %D:%i\\n'],
    folder,
  );
  find.stdin.end();
  const abort = (): void => find.kill();
  signal.addEventListener('abort', abort, { once: true });
  let [bytes, skipped] = [0, 0];
  const linked = new Set<string>();
  try {
    let rest = '';
    for await (const chunk of find.stdout as AsyncIterable<Buffer>) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '-') skipped += 1;
        else {
          const [blocks, links, file] = line.split(' ') as [string, string, string];
          bytes += ENTRY_BYTES;
          if (links !== '1' && Number(blocks) > 0) {
            if (linked.has(file)) continue;
            linked.add(file);
          }
          bytes += Number(blocks) * 512;
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
  signal.throwIfAborted();
  const { code, said } = await find.ended;
  // 1: an entry vanished meanwhile.
  if (code !== 0 && code !== 1)
    throw new SlipwayError('sandbox.archive-broken', `The files cannot be listed: ${reasonOf(said, 'find')}.`);
  return { bytes, skipped };
}

/** Arguments of `find` that write the name of every entry that is kept, each ended by NUL. */
export function listArguments(names: readonly string[]): string[] {
  return [...starts(names), ...LEFT_OUT, '-o', '-print0'];
}

/** The slash follows the link. */
function starts(names: readonly string[]): string[] {
  return [...names.map((name) => `${name}/`), '-mindepth', '1'];
}
