import { execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { until } from '@slipway/testing';
import type { TestCluster } from '@slipway/testing/cluster';
import { openHelm } from '@slipway/testing/helm';

export const CHART = path.resolve(import.meta.dirname, '../../helm/slipway');
export const VALUES = path.join(import.meta.dirname, 'values.yaml');
/** Longest that Helm itself waits for pods; the call has a little more. Seconds. */
const WAIT_SECONDS = 180;

export interface HelmAnswer {
  readonly code: number;
  /** Both of its outputs. */
  readonly said: string;
}

/** Helm on one cluster. */
export class HelmClient {
  readonly program: string;
  private readonly kubeconfig: string;

  private readonly kubectlProgram: string;

  private constructor(
    program: string,
    { kubeconfig, kubectlProgram }: Pick<TestCluster, 'kubeconfig' | 'kubectlProgram'>,
  ) {
    this.program = program;
    this.kubeconfig = kubeconfig;
    this.kubectlProgram = kubectlProgram;
  }

  static async open(cluster: Pick<TestCluster, 'kubeconfig' | 'kubectlProgram'>): Promise<HelmClient> {
    return new HelmClient((await openHelm()).helm, cluster);
  }

  /** Whatever it answers. @throws Error when it could not be run, or did not end in time. */
  try(args: readonly string[]): Promise<HelmAnswer> {
    return new Promise((resolve, reject) => {
      execFile(
        this.program,
        [...args],
        { env: this.environment, timeout: (WAIT_SECONDS + 30) * 1_000, maxBuffer: 2 ** 24 },
        (error, stdout, stderr) => {
          const said = `${stdout}${stderr}`;
          if (error === null) resolve({ code: 0, said });
          else if (typeof error.code === 'number') resolve({ code: error.code, said });
          else reject(new Error(`helm ${args.join(' ')}: ${String(error)} ${said}`));
        },
      );
    });
  }

  /** Starts it and ends it with SIGKILL as soon as `reached` says so. @throws Error when it ended by itself before. */
  async killed(args: readonly string[], reached: () => Promise<boolean>): Promise<void> {
    const child = spawn(this.program, [...args], { env: this.environment, stdio: 'ignore' });
    const ended = new Promise<string | null>((resolve, reject) =>
      child.once('error', reject).once('exit', (_, signal) => resolve(signal)),
    );
    try {
      await until(`helm ${args[0]} has come so far`, reached, WAIT_SECONDS * 1_000);
    } finally {
      child.kill('SIGKILL');
    }
    if ((await ended) !== 'SIGKILL') throw new Error(`helm ${args.join(' ')} ended before it was killed`);
  }

  /** For commands of a page: helm and kubectl on the PATH, this cluster as theirs. */
  get environment(): Record<string, string> {
    const programs = [path.dirname(this.program), path.dirname(this.kubectlProgram), process.env['PATH'] ?? ''].join(
      path.delimiter,
    );
    return { PATH: programs, HOME: process.env['HOME'] ?? '', KUBECONFIG: this.kubeconfig };
  }

  /** @throws Error with what it said when it fails. */
  async run(args: readonly string[]): Promise<string> {
    const { code, said } = await this.try(args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${said}`);
    return said;
  }
}

/**
 * `install` or `upgrade` of the chart with the values of this folder, and whatever `more` says; returns when every pod
 * is ready.
 */
export function chartCommand(
  verb: 'install' | 'upgrade',
  more: readonly string[],
  release = 'slipway',
  namespace = 'slipway',
  chart = CHART,
): string[] {
  return [
    verb,
    release,
    chart,
    '--namespace',
    namespace,
    '--values',
    VALUES,
    '--wait',
    '--timeout',
    `${WAIT_SECONDS}s`,
    ...more,
  ];
}
