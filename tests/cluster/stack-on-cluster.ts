import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type SandboxStatus } from '@slipway/contracts/conversations';
import { ORG_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import type { TestCluster } from '@slipway/testing/cluster';
import { OpenStack } from '../stack/open-stack.ts';
import type { Talk } from '../stack/talk.ts';
import { SANDBOXES } from './contract-pod.ts';
import type { EgressOnHost } from './egress-on-host.ts';
import { type BackendCluster, openBackendCluster, type TestTemplate } from './open-backend.ts';

/** A sandbox's pod, as far as these tests read it. */
export interface SandboxPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName: string;
    readonly containers: readonly Container[];
    readonly initContainers: readonly Container[];
  };
  readonly status: { readonly phase: string; readonly podIP?: string };
}
interface Container {
  readonly name: string;
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
}

// An answer as it came over the wire; each test names what it reads.
// biome-ignore lint/suspicious/noExplicitAny: as above.
type Json = any;

export interface StackOnClusterOptions {
  /** Changes of the template that every sandbox is made of. */
  readonly template?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The way out of its sandboxes, which is not started here. */
  readonly egress?: EgressOnHost;
}

/**
 * The whole of Slipway on this machine, its sandboxes in pods of a cluster under the platform's manifests, runtime-api
 * with its service account's rights only.
 */
export class StackOnCluster {
  readonly open: OpenStack;
  readonly cluster: TestCluster;
  /** The template that starts. */
  readonly template: TestTemplate;
  private readonly backend: BackendCluster;
  private readonly folder: string;

  private constructor(open: OpenStack, backend: BackendCluster, template: TestTemplate, folder: string) {
    this.open = open;
    this.cluster = backend.platform.cluster;
    this.backend = backend;
    this.template = template;
    this.folder = folder;
  }

  static async open(options: StackOnClusterOptions = {}): Promise<StackOnCluster> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-stack-on-cluster-'));
    const backend = await openBackendCluster();
    try {
      const template = { ...backend.template, pools: { 1: { min: 1, max: 2 } }, ...options.template };
      await writeFile(templatesFile(folder), JSON.stringify([template]));
      const open = await OpenStack.open({
        hostAddress: backend.platform.cluster.hostAddress,
        env: {
          SANDBOX_BACKEND: 'kubernetes',
          KUBECONFIG: backend.kubeconfig,
          SANDBOX_NAMESPACE: SANDBOXES,
          SANDBOX_TEMPLATES: templatesFile(folder),
          WORKSPACE_STORE: `file://${path.join(folder, 'store')}`,
          ...options.egress?.env(backend.platform.cluster.hostAddress),
          ...options.env,
        },
      });
      return new StackOnCluster(open, backend, template, folder);
    } catch (error) {
      await backend.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Other templates, which runtime-api reads when it starts. */
  async changeTemplates(templates: readonly TestTemplate[]): Promise<void> {
    await writeFile(templatesFile(this.folder), JSON.stringify(templates));
    await this.killService('runtime-api');
  }

  /** SIGKILL; returns when the service is there again. */
  async killService(service: 'runtime-api' | 'worker' | 'app-server'): Promise<void> {
    const pid = this.open.stack.pidOf(service);
    process.kill(pid, 'SIGKILL');
    await until(
      `${service} runs again`,
      () => this.open.stack.pidOf(service) !== pid && this.open.stack.pidOf(service) > 0,
    );
    await until(
      `${service} answers`,
      async () => (await fetch(`${this.open.addressOf(service)}/ready`, { signal: AbortSignal.timeout(1_000) })).ok,
      30_000,
    );
  }

  /** Waits until the pool has a blank sandbox that a claim takes at once. */
  async warm(): Promise<void> {
    await until(
      'a sandbox is warm',
      async () => (await this.open.query(`SELECT 1 FROM runtime.slot WHERE state = 'ready'`)).length > 0,
      30_000,
    );
  }

  async pods(): Promise<SandboxPod[]> {
    return (
      JSON.parse(await this.cluster.kubectl(['-n', SANDBOXES, 'get', 'pods', '-o', 'json'])) as { items: SandboxPod[] }
    ).items;
  }

  /** The pod that has the conversation now. */
  async podOf(talk: Talk): Promise<SandboxPod> {
    const { url } = await this.open.sandboxOf(talk);
    const pod = (await this.pods()).find(
      ({ status, metadata }) => `http://${status.podIP}:8000` === url && metadata.deletionTimestamp === undefined,
    );
    if (pod === undefined) throw new Error(`no pod is at ${url}`);
    return pod;
  }

  /**
   * Ends every pod in use on this pod's node, as an operator drains it, and lets the node have pods again. Returns when
   * they have ended.
   */
  async drain({ spec }: SandboxPod): Promise<void> {
    const node = spec.nodeName;
    try {
      await this.cluster.kubectl([
        'drain',
        node,
        '--pod-selector=slipway.dev/claim',
        '--force',
        '--delete-emptydir-data',
        '--ignore-daemonsets',
        '--timeout=90s',
      ]);
    } finally {
      await this.cluster.kubectl(['uncordon', node]);
    }
  }

  /** Waits until the conversation's sandbox is in this state. */
  async sandboxIs(talk: Talk, status: SandboxStatus): Promise<void> {
    await until(`the sandbox is ${status}`, async () => {
      const now = await talk.get();
      if (now.sandboxStatus === status) return true;
      throw new Error(JSON.stringify(now));
    });
  }

  /** The conversation is not needed any more: its room is for the next one. */
  async rest(talk: Talk): Promise<void> {
    await talk.post('pause');
  }

  /** runtime-api as its callers have it. */
  async callRuntimeApi(
    method: 'GET' | 'POST',
    route: string,
    body?: unknown,
    orgId = this.open.orgId,
  ): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${this.open.addressOf('runtime-api')}${route}`, {
      method,
      headers: {
        'x-api-key': this.open.secrets.runtimeApiKey,
        [ORG_HEADER]: orgId,
        'content-type': 'application/json',
        prefer: 'wait=1',
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  async close(): Promise<void> {
    await this.open.close();
    await this.backend.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const templatesFile = (folder: string): string => path.join(folder, 'templates.json');
