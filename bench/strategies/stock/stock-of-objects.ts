import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestDatabase } from '@slipway/testing';
import { openTestCluster, type TestCluster } from '@slipway/testing/cluster';
import { KubeApi } from '../../../tests/cluster/kube-api.ts';
import type { RaceStock } from './race-stock.ts';

const NAMESPACE = 'race';
/**
 * Their label `state` is the state of a slot, their annotation `claim` its claim. The lightest kind of object that
 * there is: no admission, no controller, no node uses it.
 */
export const OBJECTS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Of the requests of the bench itself, between the bursts. */
const CONNECTIONS = 16;

export interface SlotObject {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: { readonly state?: string };
    readonly annotations?: { readonly claim?: string };
  };
}
export interface SlotList {
  readonly items: readonly SlotObject[];
}

/** Slots as objects of an API server whose etcd writes to the disk before it answers. */
export class StockOfObjects implements RaceStock {
  /** A file of JSON. */
  readonly kubeconfig: string;
  readonly databaseUrl: string;
  private made = 0;

  private readonly cluster: TestCluster;
  private readonly api: KubeApi;
  private readonly folder: string;

  private constructor(cluster: TestCluster, api: KubeApi, folder: string, databaseUrl: string) {
    this.cluster = cluster;
    this.api = api;
    this.folder = folder;
    this.databaseUrl = databaseUrl;
    this.kubeconfig = path.join(folder, 'kubeconfig.json');
  }

  /**
   * @param database nothing is written to it. @throws ClusterUnavailable with one sentence when no cluster can be had.
   */
  static async open(database: TestDatabase): Promise<StockOfObjects> {
    const cluster = await openTestCluster({ realNode: false, fsync: true });
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-race-'));
    try {
      const kubeconfig = await cluster.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']);
      const stock = new StockOfObjects(cluster, KubeApi.of(kubeconfig, CONNECTIONS), folder, database.ownerUrl);
      await writeFile(stock.kubeconfig, kubeconfig, { mode: 0o600 });
      await stock.must('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
      return stock;
    } catch (error) {
      await cluster.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async empty(): Promise<void> {
    await this.must('DELETE', `${OBJECTS}?labelSelector=state`);
  }

  async fill(count: number): Promise<void> {
    const { items } = await this.list();
    const bound = items.filter(({ metadata }) => metadata.labels?.state !== 'ready');
    const patch = { metadata: { labels: { state: 'ready' }, annotations: { claim: null } } };
    await Promise.all(bound.map(({ metadata }) => this.must('PATCH', `${OBJECTS}/${metadata.name}`, patch)));
    const missing = Math.max(0, count - items.length);
    await Promise.all(
      Array.from({ length: missing }, () =>
        this.must('POST', OBJECTS, { metadata: { name: this.newName(), labels: { state: 'ready' } } }),
      ),
    );
  }

  async countBound(slots: readonly string[]): Promise<number> {
    const asked = new Set(slots);
    const bound = (await this.list()).items.filter(
      ({ metadata }) => asked.has(metadata.name) && metadata.labels?.state === 'bound',
    );
    return new Set(bound.map(({ metadata }) => metadata.annotations?.claim)).size;
  }

  serverCpuMs(): number {
    if (!this.cluster.capabilities.faults) return 0;
    return this.cluster.usage().reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1_000, 0);
  }

  async close(): Promise<void> {
    await this.must('DELETE', `/api/v1/namespaces/${NAMESPACE}`).catch(() => {
      // It goes with the cluster, unless the cluster is foreign.
    });
    this.api.close();
    await this.cluster.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private newName(): string {
    this.made += 1;
    return `slot-${this.made}`;
  }

  /** Out of etcd, not out of the API server's cache. */
  private async list(): Promise<SlotList> {
    const { status, body } = await this.api.ask<SlotList>(OBJECTS);
    if (status !== 200) throw new Error(`the list of slots: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    // The namespace has an object of its own: the root certificate.
    return { items: body.items.filter(({ metadata }) => metadata.labels?.state !== undefined) };
  }

  private async must(method: 'POST' | 'PATCH' | 'DELETE', route: string, body?: unknown): Promise<void> {
    const { status, body: answer } = await this.api.ask(route, {
      method,
      body,
      ...(method === 'PATCH' && { contentType: 'application/merge-patch+json' as const }),
    });
    if (status >= 300) throw new Error(`${method} ${route}: ${status} ${JSON.stringify(answer).slice(0, 300)}`);
  }
}
