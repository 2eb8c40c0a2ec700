// What `npm run cluster -- up --chart` leaves running: everything that an operator has before Slipway
// (open-install.ts), for as long as its cluster is up. `keeper.ts NAME FOLDER`: writes FOLDER/try.json when all of it
// is there. It ends with the cluster, by SIGTERM or SIGINT, and ends the cluster with itself.
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, readRecords } from '@slipway/testing/cluster';
import { type OpenInstall, openInstall } from './open-install.ts';
import { operatorValues } from './operator-values.ts';
import type { TryIt } from './try-it.ts';

/** Interval of the checks whether the cluster is still up. Milliseconds. */
const LOOK_MS = 2_000;

const [name = '', folder = ''] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort());

const install = await openInstall({ name, bucket: true, everyImage: true, say: (line) => console.log(line) });
try {
  await announce(install);
  while (!stop.signal.aborted && (await isUp()))
    await wait(LOOK_MS, undefined, { signal: stop.signal }).catch(() => {});
} finally {
  await install.close();
}
process.exit(0);

async function isUp(): Promise<boolean> {
  const record = (await readRecords()).find((one) => one.name === name);
  return record !== undefined && (await isAlive(record));
}

/** Written aside and renamed: who waits for it reads all of it. */
async function announce(open: OpenInstall): Promise<void> {
  const valuesFile = path.join(folder, 'values.yaml');
  await writeFile(valuesFile, await operatorValues(open));
  const said: TryIt = {
    kubeconfig: open.cluster.kubeconfig,
    kubectl: open.cluster.kubectlProgram,
    helm: open.helm.program,
    valuesFile,
    address: open.ingressAddress,
    hosts: open.hosts,
    bucketUrl: open.bucketUrl ?? '',
    account: open.issuer.account,
    repositoryUrl: open.repositoryUrl,
  };
  await writeFile(path.join(folder, '.try.json'), JSON.stringify(said));
  await rename(path.join(folder, '.try.json'), path.join(folder, 'try.json'));
}
