import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { chartCommand } from '../../deploy/cluster/helm-client.ts';
import type { OpenInstall } from '../../deploy/cluster/open-install.ts';
import type { Place } from '../../deploy/cluster/place.ts';
import { runDocumented } from '../operate/documented.ts';

const PAGE = 'backup.md';
const PASSWORD = "of the backup's";
/** What else a second release in one cluster, on one Redis, has of its own. */
const OF_ITS_OWN = [
  'sandboxes.namespace=restored-sandboxes',
  'redis.database=1',
  'postgresql.host=postgres-restored.slipway-beside.svc.cluster.local',
];
/** As the page says. */
const SECRETS = ['secrets.existingSecret=slipway-secrets', 'postgresql.roles.existingSecret=slipway-secrets'];
/** Two of everything was tried before this. */
const ONE_OF_EACH = ['appServer', 'worker', 'runtimeApi', 'llmGateway', 'sandboxGateway', 'web'].map(
  (app) => `${app}.replicas=1`,
);

/** A backup of an installation, taken and brought back by the commands of docs/operate/backup.md. */
export class Backup {
  private readonly on: OpenInstall;
  private readonly env: Readonly<Record<string, string>>;

  private constructor(on: OpenInstall, env: Readonly<Record<string, string>>) {
    this.on = on;
    this.env = env;
  }

  /** @param client a folder with pg_dump, pg_restore and psql. */
  static async take(on: OpenInstall, client: string): Promise<Backup> {
    const folder = path.join(path.dirname(on.place.workspaces), 'backup');
    await mkdir(folder);
    const { kubectlProgram, kubeconfig } = on.cluster;
    const programs = [client, path.dirname(kubectlProgram), process.env['PATH']].join(path.delimiter);
    const backup = new Backup(on, { PATH: programs, KUBECONFIG: kubeconfig, BACKUP: folder });
    const adminUrl = await on.place.adminUrl();
    const { host, pathname } = new URL(adminUrl);
    await backup.run('role', { ADMIN_URL: adminUrl, BACKUP_PASSWORD: PASSWORD });
    await backup.run('secrets', {});
    await backup.run('dump', {
      BACKUP_URL: `postgresql://slipway_backup:${encodeURIComponent(PASSWORD)}@${host}${pathname}`,
    });
    await backup.run('store', { STORE: on.place.workspaces });
    return backup;
  }

  /** Into a fresh place; of the old one the pods are gone. Returns when the ingress leads to its pods. */
  async restore(): Promise<Place> {
    await this.run('stop', {});
    const place = await this.on.freshPlace();
    await this.run('secrets-back', { NAMESPACE: place.namespace });
    const ownerUrl = await place.adminUrl();
    for (const step of ['roles', 'restore', 'fence', 'store-back'])
      await this.run(step, { OWNER_URL: ownerUrl, NEW_STORE: place.workspaces });
    const values = [...SECRETS, ...OF_ITS_OWN, ...ONE_OF_EACH].flatMap((value) => ['--set', value]);
    await this.on.helm.run(chartCommand('install', [...this.on.flags, ...values], place.release, place.namespace));
    await this.on.reachable();
    return place;
  }

  private async run(block: string, env: Readonly<Record<string, string>>): Promise<void> {
    await runDocumented(PAGE, block, { ...this.env, ...env });
  }
}
