import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const TEMPLATES = fileURLToPath(new URL('../../deploy/kubernetes/examples/templates.yaml', import.meta.url));
const ROOT = '/sys/fs/cgroup';
/** `podPidsLimit`, as docs/isolation.md asks for it. */
const MAX_PROCESSES = 1_024;
const PERIOD_US = 100_000;

/** What the container of the agent's tools may have, by the template that comes with the product. */
export interface PodLimits {
  readonly cpuRequest: number;
  readonly cpuLimit: number;
  /** Bytes. */
  readonly memory: number;
}

/** @throws Error when the template does not read as it did. */
export function templateLimits(): PodLimits {
  const text = readFileSync(TEMPLATES, 'utf8');
  const request = /^ {4}requests: \{ cpu: (\d+)m/m.exec(text)?.[1];
  const [, cpu, memory] = /^ {4}limits: \{ cpu: "(\d+)", memory: (\d+)Gi/m.exec(text) ?? [];
  if (request === undefined || cpu === undefined || memory === undefined)
    throw new Error(`${TEMPLATES}: the limits of the first template cannot be read`);
  return { cpuRequest: Number(request) / 1_000, cpuLimit: Number(cpu), memory: Number(memory) * 1024 ** 3 };
}

/**
 * A control group with a pod's limits of processor, memory and processes, by version 1 or 2 of the kernel's interface.
 * Needs root.
 */
export class ResourceGroup {
  private readonly folders: readonly string[];

  private constructor(folders: readonly string[]) {
    this.folders = folders;
  }

  /** @throws Error when the kernel does not let groups be made here. */
  static create(name: string, { cpuRequest, cpuLimit, memory }: PodLimits): ResourceGroup {
    const shares = Math.max(2, Math.floor(cpuRequest * 1_024));
    if (existsSync(path.join(ROOT, 'cgroup.controllers'))) {
      const folder = path.join(ROOT, name);
      mkdirSync(folder);
      writeFileSync(
        path.join(folder, 'cpu.weight'),
        `${Math.max(1, Math.floor(1 + ((shares - 2) * 9_999) / 262_142))}`,
      );
      writeFileSync(path.join(folder, 'cpu.max'), `${cpuLimit * PERIOD_US} ${PERIOD_US}`);
      writeFileSync(path.join(folder, 'memory.max'), `${memory}`);
      writeFileSync(path.join(folder, 'pids.max'), `${MAX_PROCESSES}`);
      return new ResourceGroup([folder]);
    }
    const settings: Readonly<Record<string, Readonly<Record<string, number>>>> = {
      cpu: { 'cpu.shares': shares, 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': cpuLimit * PERIOD_US },
      memory: { 'memory.limit_in_bytes': memory },
      pids: { 'pids.max': MAX_PROCESSES },
      cpuacct: {},
    };
    const folders = Object.entries(settings).map(([controller, values]) => {
      const folder = path.join(ROOT, controller, name);
      mkdirSync(folder);
      for (const [file, value] of Object.entries(values)) writeFileSync(path.join(folder, file), `${value}`);
      return folder;
    });
    return new ResourceGroup(folders);
  }

  /** The command that enters the group and becomes `program`: everything that it starts is in it too. */
  wrap(program: readonly string[]): string[] {
    const enter = this.folders.map((folder) => `echo $$ > ${folder}/cgroup.procs`);
    return ['sh', '-ec', [...enter, 'exec "$@"'].join('\n'), 'group', ...program];
  }

  /** Processor time of all that is and was in it. Milliseconds. */
  get cpuMs(): number {
    const own = this.folders.find((folder) => folder.includes('/cpuacct/'));
    if (own !== undefined) return Number(readFileSync(path.join(own, 'cpuacct.usage'), 'utf8')) / 1e6;
    const [folder = ''] = this.folders;
    return Number(/usage_usec (\d+)/.exec(readFileSync(path.join(folder, 'cpu.stat'), 'utf8'))?.[1]) / 1e3;
  }

  get processes(): number[] {
    const [folder = ''] = this.folders;
    return readFileSync(path.join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  }

  /**
   * Ends everything that is in it but `spared`. What multiplies is held first, so that it keeps its places and gets no
   * more.
   */
  async clear(spared: readonly number[] = []): Promise<void> {
    for (let before = -1; ; ) {
      const doomed = this.processes.filter((pid) => !spared.includes(pid));
      if (doomed.length === 0) return;
      const held = doomed.length === before;
      before = doomed.length;
      for (const pid of doomed) {
        try {
          process.kill(pid, held ? 'SIGKILL' : 'SIGSTOP');
        } catch {
          // It has ended.
        }
      }
      await wait(20);
    }
  }

  async remove(): Promise<void> {
    await this.clear();
    for (const folder of this.folders) if (readdirSync(folder).length > 0) rmdirSync(folder);
  }
}
