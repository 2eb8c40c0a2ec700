import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort, until } from '@slipway/testing';
import { startProcess, waitForHttp } from '../../bench/measure/child-process.ts';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}
export interface SampleRange {
  readonly metric: Readonly<Record<string, string>>;
  /** Time in seconds since 1970, value. */
  readonly values: readonly (readonly [number, number])[];
}

/** A Prometheus on this machine that scrapes every second. */
export class Prometheus {
  readonly url: string;
  private readonly folder: string;
  private readonly running: ReturnType<typeof startProcess>;

  private constructor(url: string, folder: string, running: ReturnType<typeof startProcess>) {
    this.url = url;
    this.folder = folder;
    this.running = running;
  }

  /** @param targets addresses (`host:port`) by job. */
  static async start(program: string, targets: ReadonlyMap<string, string>): Promise<Prometheus> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-prometheus-'));
    const scrapes = [...targets].map(([job, address]) => ({ job_name: job, static_configs: [{ targets: [address] }] }));
    // YAML is a superset of JSON.
    await writeFile(
      path.join(folder, 'prometheus.yml'),
      JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: scrapes }),
    );
    const address = `127.0.0.1:${await freePort()}`;
    const running = startProcess(
      program,
      [
        `--config.file=${path.join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      {},
      folder,
    );
    await waitForHttp(`http://${address}/-/ready`, running);
    return new Prometheus(`http://${address}`, folder, running);
  }

  /** @throws Error with Prometheus' own words when the expression cannot be answered. */
  async query(expr: string): Promise<Sample[]> {
    const { resultType, result } = await this.ask('query', { query: expr });
    if (resultType === 'scalar') return [{ metric: {}, value: Number((result as unknown as [number, string])[1]) }];
    return (result as { metric: Record<string, string>; value: [number, string] }[]).map(({ metric, value }) => ({
      metric,
      value: Number(value[1]),
    }));
  }

  /** Waits until an expression has an answer. */
  async scraped(expr: string): Promise<void> {
    await until(`Prometheus has ${expr}`, async () => (await this.query(expr)).length > 0, 60_000);
  }

  /** @param from, to in seconds since 1970. */
  async range(expr: string, from: number, to: number, step: number): Promise<SampleRange[]> {
    const { result } = await this.ask('query_range', {
      query: expr,
      start: String(from),
      end: String(to),
      step: String(step),
    });
    return (result as { metric: Record<string, string>; values: [number, string][] }[]).map(({ metric, values }) => ({
      metric,
      values: values.map(([time, value]) => [time, Number(value)] as const),
    }));
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async ask(
    what: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<{ resultType: string; result: unknown[] }> {
    const response = await fetch(`${this.url}/api/v1/${what}`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
    });
    const answer = (await response.json()) as {
      status: string;
      error?: string;
      data: { resultType: string; result: unknown[] };
    };
    if (answer.status !== 'success') throw new Error(`${parameters['query']}: ${answer.error}`);
    return answer.data;
  }
}
