import { execFile } from 'node:child_process';
import path from 'node:path';
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
  private readonly program: string;
  private readonly kubeconfig: string;

  private constructor(program: string, kubeconfig: string) {
    this.program = program;
    this.kubeconfig = kubeconfig;
  }

  static async open(kubeconfig: string): Promise<HelmClient> {
    return new HelmClient((await openHelm()).helm, kubeconfig);
  }

  /** Whatever it answers. @throws Error when it could not be run, or did not end in time. */
  try(args: readonly string[]): Promise<HelmAnswer> {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], KUBECONFIG: this.kubeconfig };
    return new Promise((resolve, reject) => {
      execFile(this.program, [...args], { env, timeout: (WAIT_SECONDS + 30) * 1_000, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`;
        if (error === null) resolve({ code: 0, said });
        else if (typeof error.code === 'number') resolve({ code: error.code, said });
        else reject(new Error(`helm ${args.join(' ')}: ${String(error)} ${said}`));
      });
    });
  }

  /** @throws Error with what it said when it fails. */
  async run(args: readonly string[]): Promise<string> {
    const { code, said } = await this.try(args);
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${said}`);
    return said;
  }
}

/** `install` or `upgrade` of the chart with the values of this folder, and whatever `more` says; returns when every pod is ready. */
export function chartCommand(verb: 'install' | 'upgrade', more: readonly string[], release = 'slipway', namespace = 'slipway', chart = CHART): string[] {
  return [verb, release, chart, '--namespace', namespace, '--values', VALUES, '--wait', '--timeout', `${WAIT_SECONDS}s`, ...more];
}
