import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { SandboxAccess } from '@slipway/contracts/sandboxes';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { freePort } from '@slipway/testing';
import { expect } from 'expect';
import { loadConfig as loadBrokerConfig } from '../../apps/credential-broker/dist/config.js';
import { startCredentialBroker } from '../../apps/credential-broker/dist/credential-broker.js';
import { TestAuthority } from '../../apps/credential-broker/dist/testing/test-authority.js';
import { loadConfig as loadEgressConfig } from '../../apps/egress-proxy/dist/config.js';
import { startEgressProxy } from '../../apps/egress-proxy/dist/egress-proxy.js';
import { startProcess, waitForHttp } from '../../bench/measure/child-process.ts';
import { type LocalService, METRICS_OFFSET, PORT_OFFSETS, ROOT } from '../../deploy/local/settings.ts';
import { OpenStack } from '../stack/open-stack.ts';
import { finish, terminal } from '../stack/script-book.ts';

export type Service = Exclude<LocalService, 'postgres' | 'web'>;
/** Services of the stack that the suite starts. */
export const SERVICES = (Object.keys(PORT_OFFSETS) as LocalService[]).filter(
  (service) => service !== 'postgres' && service !== 'web',
) as Service[];

/**
 * The whole stack with its pages and an egress-proxy, and where each of them has its metrics: what a Prometheus scrapes
 * of an installation.
 */
export class WatchedStack {
  readonly open: OpenStack;
  /** `host:port` of `/metrics`, by app. embedded-identity is for one machine only, and is not among them. */
  readonly metrics: ReadonlyMap<string, string>;
  readonly egress: Awaited<ReturnType<typeof startEgressProxy>>;
  readonly broker: OpenBroker;
  private readonly web: ReturnType<typeof startProcess>;

  private constructor(
    parts: Pick<WatchedStack, 'open' | 'metrics' | 'egress' | 'broker'>,
    web: ReturnType<typeof startProcess>,
  ) {
    ({ open: this.open, metrics: this.metrics, egress: this.egress, broker: this.broker } = parts);
    this.web = web;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<WatchedStack> {
    const open = await OpenStack.open({ env });
    const egress = await openEgressProxy();
    const broker = await openBroker();
    const [port, metricsPort] = [await freePort(), await freePort()];
    const ofWeb = {
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      HOSTNAME: '127.0.0.1',
      NODE_ENV: 'production',
    };
    const web = startProcess(
      process.execPath,
      [path.join(ROOT, 'apps/web/.next/standalone/apps/web/server.js')],
      ofWeb,
      ROOT,
    );
    await waitForHttp(`http://127.0.0.1:${port}/alive`, web);
    const onPublicPort = await fetch(`http://127.0.0.1:${port}/metrics`);
    // The name is one that an organization could have; behind app-server the path is not the pages' at all.
    expect(['web', await onPublicPort.text()]).toEqual(['web', expect.not.stringContaining('process_')]);
    await waitForHttp(`http://127.0.0.1:${metricsPort}/metrics`, web);
    const metrics = new Map<string, string>(
      SERVICES.filter((service) => service !== 'embedded-identity')
        .sort()
        .map((app) => [app, `127.0.0.1:${open.port + METRICS_OFFSET + PORT_OFFSETS[app]}`]),
    );
    metrics.set('egress-proxy', new URL(egress.metricsUrl ?? '').host);
    metrics.set('credential-broker', new URL(broker.broker.metricsUrl ?? '').host);
    metrics.set('web', `127.0.0.1:${metricsPort}`);
    return new WatchedStack({ open, metrics, egress, broker }, web);
  }

  async metricsOf(app: string): Promise<string> {
    const answer = await fetch(`http://${this.metrics.get(app)}/metrics`);
    expect([app, answer.status]).toEqual([app, 200]);
    return answer.text();
  }

  /**
   * An outsider, and every sandbox, reaches the public port: what the platform has to do and earns is not theirs to
   * read.
   */
  async expectPublicPortsWithoutMetrics(): Promise<void> {
    for (const app of SERVICES) {
      const answer = await fetch(`${this.open.addressOf(app)}/metrics`, { redirect: 'manual' });
      expect([app, answer.status]).toEqual([app, 404]);
      expect([app, await answer.text()]).not.toEqual([app, expect.stringContaining('process_')]);
    }
    for (const [app, { healthUrl }] of [
      ['egress-proxy', this.egress],
      ['credential-broker', this.broker.broker],
    ] as const)
      expect([app, (await fetch(`${healthUrl}/metrics`)).status]).toEqual([app, 404]);
  }

  /**
   * One conversation that works and finishes, with a browser that follows it and views its sandbox. @param name of its
   * harness: another each time.
   */
  async work(name: string): Promise<void> {
    const talk = await this.open.talk(name, [
      terminal('echo something > note.txt'),
      finish('It is written, and there is nothing else to do here.'),
    ]);
    await talk.ended('finished');
    const access = await this.open.user.fetch(`${talk.path}/sandbox-access`, {
      method: 'POST',
      json: { port: 'agent-server' },
    });
    const { pathUrl, token } = (await access.json()) as SandboxAccess;
    expect(
      (await fetch(`${pathUrl}api/conversations/${talk.id}`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(200);
  }

  /** One whose repository is not there, and one whose model's key is refused. @param name as of `work`. */
  async fail(name: string): Promise<void> {
    const { open } = this;
    const lost = await open.talk(`${name}: no repository`, [finish()], { repository: `${open.git.url}/missing.git` });
    await lost.startFailed();
    const refused = await open.talk(`${name}: refused`, [{ fault: 'status', status: 401 }]);
    await refused.ended('error');
  }

  /** One whose user stops it in the middle of a command. @param name as of `work`. */
  async stop(name: string): Promise<void> {
    const talk = await this.open.talk(name, [terminal('sleep 60'), finish()]);
    await talk.watcher.waitFor('its command', ({ event }) => event.kind === 'ActionEvent');
    expect((await talk.post('stop')).ok).toBe(true);
    await talk.watcher.waitFor('its end', ({ event }) => event.kind === 'InterruptEvent');
  }

  /** What strangers send: each is refused, and counted. */
  async knock(): Promise<void> {
    const { open } = this;
    await fetch(`${open.url}/api/v1/me`);
    await open.user.fetch('/api/v1/orgs/org_01arz3ndektsv4rrffq69g5fav/conversations');
    await fetch(`${open.addressOf('llm-gateway')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer slp_llm_${'0'.repeat(26)}_${'0'.repeat(32)}` },
      body: '{}',
    });
    await fetch(`${open.url}/ingest/v1/conversations/00000000-0000-7000-8000-000000000000/events`, {
      method: 'POST',
      body: '{}',
    });
    await this.askEgress();
  }

  /** A sandbox without a pass asks for a host. */
  private askEgress(): Promise<void> {
    const { hostname, port } = new URL(this.egress.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
      );
      socket.on('error', () => resolve());
      socket.once('data', () => socket.end());
      socket.once('close', () => resolve());
    });
  }

  async close(): Promise<void> {
    await this.web.stop();
    await this.egress.close();
    await this.broker.close();
    await this.open.close();
  }
}

/** It has no place in the local stack, whose sandboxes have no egress classes. */
async function openEgressProxy(): Promise<Awaited<ReturnType<typeof startEgressProxy>>> {
  const logger = createLogger('egress-proxy', 'silent');
  const config = loadEgressConfig({ EGRESS_SECRET: 'x'.repeat(32), EGRESS_RULES: '{}', EGRESS_PORT: '0', PORT: '0' });
  return startEgressProxy(config, logger, new GracefulStop({ logger, drainSeconds: 0 }));
}

interface OpenBroker {
  readonly broker: Awaited<ReturnType<typeof startCredentialBroker>>;
  close(): Promise<void>;
}

/** Nor has the broker behind it. Nothing answers where it would ask for credentials. */
async function openBroker(): Promise<OpenBroker> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-watched-broker-'));
  const authority = await TestAuthority.make('Watched');
  const [BROKER_CA_FILE, BROKER_CA_KEY_FILE] = [path.join(folder, 'ca.pem'), path.join(folder, 'ca.key')];
  await writeFile(BROKER_CA_FILE, authority.cert);
  await writeFile(BROKER_CA_KEY_FILE, authority.key, { mode: 0o600 });
  const logger = createLogger('credential-broker', 'silent');
  const config = loadBrokerConfig({
    BROKER_SECRET: 'x'.repeat(32),
    CREDENTIAL_CONTROL_URL: 'http://127.0.0.1:9',
    CREDENTIAL_CONTROL_SECRET: 'y'.repeat(32),
    BROKER_CA_FILE,
    BROKER_CA_KEY_FILE,
    BROKER_PORT: '0',
    PORT: '0',
  });
  const broker = await startCredentialBroker(config, logger, new GracefulStop({ logger, drainSeconds: 0 }));
  return {
    broker,
    close: async () => {
      await broker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
