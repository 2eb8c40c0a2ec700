import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

export interface SandboxProcess {
  readonly kind: 'agent-server' | 'action-server';
  readonly pid: number;
  readonly slotId: string;
  /** Where it listens; `null` before it does. */
  readonly port: number | null;
}

/** The sandbox processes of one data directory that run now, read from /proc. */
export function sandboxProcesses(dataDirectory: string): SandboxProcess[] {
  const found: SandboxProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      const kind = (['agent-server', 'action-server'] as const).find((name) => command[1]?.endsWith(`/${name}.cjs`));
      if (kind === undefined) continue;
      const env = Object.fromEntries(
        readFileSync(`/proc/${entry}/environ`, 'utf8')
          .split('\0')
          .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
      );
      const state = env['STATE_DIR'] ?? '';
      if (!state.startsWith(dataDirectory)) continue;
      const file = path.join(state, kind === 'agent-server' ? 'listening.json' : 'action-server.json');
      const port = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { port: number }).port : null;
      found.push({ kind, pid: Number(entry), slotId: env['SLOT_ID'] ?? '', port });
    } catch {
      // It ended while it was read.
    }
  }
  return found;
}

/** Programs of this name that agents of one data directory run now, each with the shell that started it. */
export function runningCommands(
  dataDirectory: string,
  program: string,
): Array<{ readonly pid: number; readonly shell: number }> {
  return readdirSync('/proc').flatMap((entry) => {
    try {
      if (!/^\d+$/.test(entry) || readFileSync(`/proc/${entry}/comm`, 'utf8').trim() !== program) return [];
      if (!readlinkSync(`/proc/${entry}/cwd`).startsWith(dataDirectory)) return [];
      const status = readFileSync(`/proc/${entry}/status`, 'utf8');
      return [{ pid: Number(entry), shell: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) }];
    } catch {
      return [];
    }
  });
}
