import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { CreateCredential, Credential } from '@slipway/contracts/credentials';
import { freePort, until } from '@slipway/testing';
import { TestAuthority } from '../../apps/credential-broker/dist/testing/test-authority.js';
import { ROOT } from '../../deploy/local/settings.ts';
import { OpenStack } from '../stack/open-stack.ts';
import { NameServer } from './name-server.ts';
import { HOSTS, OUTSIDE, OutsideWorld } from './outside-world.ts';

const SECRETS = {
  egress: 'egress-secret-of-tests-0123456789abcdef',
  egressControl: 'egress-control-of-tests-0123456789abcdef',
  broker: 'broker-secret-of-tests-0123456789abcdef',
  credentialControl: 'credential-control-of-tests-0123456789ab',
};
const READY_MS = 30_000;

/**
 * The whole local stack whose sandboxes go out through egress-proxy and credential-broker, each a process of its own,
 * to hosts with certificates of an authority that only the broker knows.
 */
export class BrokeredStack {
  private readonly closing: Array<() => Promise<void> | void> = [];
  stack!: OpenStack;
  outside!: OutsideWorld;
  names!: NameServer;
  folder = '';
  /** Logs of egress-proxy and credential-broker. */
  readonly logs: string[] = [];
  private restartBroker!: (keyFile?: string) => Promise<ChildProcess>;
  private nextKeyFile = '';
  private broker!: ChildProcess;

  static async open(folder: string): Promise<BrokeredStack> {
    const world = new BrokeredStack();
    world.folder = folder;
    try {
      await world.start();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (let step = this.closing.pop(); step !== undefined; step = this.closing.pop()) await step();
  }

  /** With SIGKILL; returns when another one is ready. */
  async killBroker(): Promise<void> {
    this.broker.kill('SIGKILL');
    await once(this.broker, 'exit');
    this.broker = await this.restartBroker();
  }

  /** The second step of a change of its authority: it gets the next key, which sandboxes trust already. */
  async changeAuthority(): Promise<void> {
    this.broker.kill('SIGTERM');
    await once(this.broker, 'exit');
    this.broker = await this.restartBroker(this.nextKeyFile);
  }

  async credential(body: Omit<CreateCredential, 'scope' | 'description' | 'expiresAt'>): Promise<Credential> {
    const response = await this.stack.user.fetch(`/api/v1/orgs/${this.stack.orgId}/credentials`, {
      method: 'POST',
      json: body,
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as Credential;
  }

  async revoke(id: string): Promise<void> {
    const path = `/api/v1/orgs/${this.stack.orgId}/credentials/${id}`;
    const { status } = await this.stack.user.fetch(path, { method: 'DELETE' });
    if (status !== 204) throw new Error(`revoke: ${status}`);
  }

  private async start(): Promise<void> {
    const [proxyPort, brokerPort, internalPort] = [await freePort(), await freePort(), await freePort()];
    const ours = await this.authority('ours');
    const theirs = await this.authority('theirs');
    const next = await this.authority('next');
    this.nextKeyFile = next.keyFile;
    const trusted = path.join(this.folder, 'trusted.crt');
    await writeFile(trusted, `${ours.authority.cert}\n${next.authority.cert}`);
    this.outside = await OutsideWorld.open(this.folder, async (host) =>
      createSecureContext(await theirs.authority.issue(host)),
    );
    this.closing.push(() => this.outside.close());
    this.names = await NameServer.open(new Map(HOSTS.map((host) => [host, OUTSIDE])));
    this.closing.push(() => this.names.close());
    const controlUrl = `http://127.0.0.1:${internalPort}`;
    this.stack = await OpenStack.open({
      between: async () => ({
        'app-server': {
          INTERNAL_PORT: String(internalPort),
          EGRESS_CONTROL_SECRET: SECRETS.egressControl,
          CREDENTIAL_CONTROL_SECRET: SECRETS.credentialControl,
          // An MCP server of loopback.
          ALLOW_PRIVATE_URLS: 'true',
        },
        'runtime-api': {
          EGRESS_PROXY_URL: `http://127.0.0.1:${proxyPort}`,
          EGRESS_SECRET: SECRETS.egress,
          EGRESS_CA_FILE: trusted,
        },
      }),
    });
    this.closing.push(() => this.stack.close());
    const broker = {
      BROKER_PORT: String(brokerPort),
      BROKER_SECRET: SECRETS.broker,
      CREDENTIAL_CONTROL_URL: controlUrl,
      CREDENTIAL_CONTROL_SECRET: SECRETS.credentialControl,
      BROKER_CA_FILE: await this.folderOf({ ours, next }),
      BROKER_CA_KEY_FILE: ours.keyFile,
      BROKER_PERMITTED_RANGES: `${OUTSIDE}/32`,
      BROKER_DNS_SERVERS: this.names.address,
      NODE_EXTRA_CA_CERTS: theirs.certificateFile,
    };
    this.restartBroker = (keyFile = broker.BROKER_CA_KEY_FILE) =>
      this.run('credential-broker', { ...broker, BROKER_CA_KEY_FILE: keyFile });
    this.broker = await this.restartBroker();
    await this.run('egress-proxy', {
      EGRESS_PORT: String(proxyPort),
      EGRESS_SECRET: SECRETS.egress,
      EGRESS_RULES: JSON.stringify({
        templates: [{ name: 'slipway-sandbox', egress: 'allow-list', allowedHosts: [] }],
      }),
      EGRESS_PORTS: `80,443,${this.outside.port}`,
      EGRESS_TLS_PORTS: `443,${this.outside.port}`,
      EGRESS_PERMITTED_RANGES: `${OUTSIDE}/32`,
      EGRESS_DNS_SERVERS: this.names.address,
      EGRESS_CONTROL_URL: controlUrl,
      EGRESS_CONTROL_SECRET: SECRETS.egressControl,
      EGRESS_HOLD_SECONDS: '1',
      BROKER_URL: `http://127.0.0.1:${brokerPort}`,
      BROKER_SECRET: SECRETS.broker,
    });
  }

  private async authority(name: string) {
    const authority = await TestAuthority.make(name);
    const [certificateFile, keyFile] = [path.join(this.folder, `${name}.crt`), path.join(this.folder, `${name}.key`)];
    await writeFile(certificateFile, authority.cert);
    await writeFile(keyFile, authority.key);
    return { authority, certificateFile, keyFile };
  }

  /** As a Secret is mounted. */
  private async folderOf(
    authorities: Readonly<Record<string, { readonly authority: TestAuthority }>>,
  ): Promise<string> {
    const folder = path.join(this.folder, 'authorities');
    await mkdir(folder);
    for (const [name, { authority }] of Object.entries(authorities))
      await writeFile(path.join(folder, `${name}.crt`), authority.cert);
    return folder;
  }

  private async run(app: string, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
    const port = await freePort();
    const logFile = path.join(this.folder, `${app}.log`);
    this.logs.push(logFile);
    await writeFile(logFile, '', { flag: 'a' });
    const log = await open(logFile, 'a');
    const child = spawn(process.execPath, [path.join(ROOT, `apps/${app}/bundle/main.js`)], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'test', PORT: String(port), METRICS_PORT: '0', ...env },
      stdio: ['ignore', log.fd, log.fd],
    });
    this.closing.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await log.close();
    await until(
      `${app} is ready`,
      async () => {
        if (child.exitCode !== null) throw new Error(`it has ended: ${readFileSync(logFile, 'utf8').slice(-2_000)}`);
        return (await fetch(`http://127.0.0.1:${port}/ready`)).status === 200;
      },
      READY_MS,
    );
    return child;
  }
}
