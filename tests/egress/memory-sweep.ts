import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import path from 'node:path';

/** Read at once of a process's memory. Bytes. */
const CHUNK = 4 * 1024 * 1024;
/** One that can be written, in `/proc/PID/smaps`: its beginning, its end, and how much of it is there. */
const REGION = /^([0-9a-f]+)-([0-9a-f]+) rw[^\n]*\n(?:[^\n]*\n)*?Rss: +([0-9]+) kB/gm;

/**
 * Where one of `needles` is in the processes of a folder (those that work in it, or name it in their arguments or their
 * environment): their arguments, their environment, and all memory that they can write. Needs root.
 */
export function sweepProcesses(folder: string, needles: readonly string[]): { found: string[]; processes: number } {
  const found: string[] = [];
  let processes = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      const said = `${readFileSync(`/proc/${entry}/cmdline`, 'latin1')}\0${readFileSync(`/proc/${entry}/environ`, 'latin1')}`;
      if (!said.includes(folder) && !isWithin(readlinkSync(`/proc/${entry}/cwd`), folder)) continue;
      processes += 1;
      for (const needle of needles)
        if (said.includes(needle)) found.push(`${needle} in the arguments or the environment of ${entry}`);
      for (const needle of inMemory(entry, needles))
        found.push(`${needle} in the memory of ${entry}: ${said.slice(0, 200)}`);
    } catch (error) {
      // It has ended meanwhile, or is none that root of this machine may look into.
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return { found, processes };
}

/** Files below a folder that hold one of `needles`. */
export function sweepFiles(folder: string, needles: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const file = path.join(entry.parentPath, entry.name);
    const content = readFileSync(file);
    return needles.filter((needle) => content.includes(needle)).map((needle) => `${needle} in ${file}`);
  });
}

const isWithin = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`);

/** Those of `needles` that stand in memory which the process can write and which is there. */
function inMemory(pid: string, needles: readonly string[]): Set<string> {
  const wanted = needles.map((needle) => ({ needle, bytes: Buffer.from(needle) }));
  const longest = Math.max(...wanted.map(({ bytes }) => bytes.length));
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK + longest);
  const found = new Set<string>();
  try {
    for (const [, from = '', to = '', resident] of readFileSync(`/proc/${pid}/smaps`, 'latin1').matchAll(REGION)) {
      if (resident === '0') continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += CHUNK) {
        // The next chunk begins before the end of this one, for what lies across.
        let read = 0;
        try {
          read = readSync(memory, buffer, 0, Math.min(buffer.length, end - at), at);
        } catch {
          // A region that cannot be read, such as one of a device.
        }
        const part = buffer.subarray(0, read);
        for (const { needle, bytes } of wanted) if (part.includes(bytes)) found.add(needle);
      }
    }
  } finally {
    closeSync(memory);
  }
  return found;
}
