import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** Longest until all is there: programs are built (seven minutes), images are made and imported. Milliseconds. */
const UP_MS = 1_800_000;
const LOOK_MS = 500;

/** What a user needs to install the chart on the cluster of `up --chart`. */
export interface TryIt {
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly helm: string;
  /** Of this cluster: addresses, Secrets, the digest of the sandbox image. */
  readonly valuesFile: string;
  /** Where the ingress listens, on port 443, for each of `hosts`. */
  readonly address: string;
  readonly hosts: readonly string[];
  /** As `sandboxes.workspaceStore.url` has it. */
  readonly bucketUrl: string;
  readonly account: { readonly username: string; readonly password: string };
  readonly repositoryUrl: string;
}

/**
 * Starts the keeper as a process of its own and waits until the place is there; what it says goes to `say` and into a
 * log.
 * @throws Error with the end of the log when it ended before, or after half an hour.
 */
export async function keepPlace(name: string, say: (line: string) => void): Promise<TryIt> {
  const folder = path.join(os.homedir(), '.cache/slipway/try', name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const log = path.join(folder, 'keeper.log');
  const file = await open(log, 'w');
  const keeper = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, 'keeper.ts'), name, folder],
    {
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
    },
  );
  let ended = false;
  keeper.once('exit', () => {
    ended = true;
  });
  let printed = 0;
  for (const end = performance.now() + UP_MS; performance.now() < end && !ended; ) {
    const lines = (await readFile(log, 'utf8')).split('\n').slice(0, -1);
    for (const line of lines.slice(printed)) say(line);
    printed = lines.length;
    const ready = path.join(folder, 'try.json');
    if (existsSync(ready)) {
      keeper.unref();
      await file.close();
      return JSON.parse(await readFile(ready, 'utf8')) as TryIt;
    }
    await wait(LOOK_MS);
  }
  if (!ended) keeper.kill('SIGTERM');
  throw new Error(`The installation failed. The end of ${log}:\n${(await readFile(log, 'utf8')).slice(-2_000)}`);
}

/** Commands to type next, for the user. */
export function instructions(it: TryIt, name: string): string {
  const [home = ''] = it.hosts;
  return `Everything beside Slipway is there, and its images are on the node. Install the chart:

  export KUBECONFIG=${it.kubeconfig}
  ${it.helm} install slipway helm/slipway -n slipway -f ${it.valuesFile} --wait
  ${it.helm} test slipway -n slipway

Then https://${home} in a browser of this machine, as ${it.account.username} / ${it.account.password}:

  chromium --ignore-certificate-errors --host-resolver-rules="MAP *.test ${it.address}" https://${home}

or put \`${it.address} ${it.hosts.filter((host) => !host.startsWith('*')).join(' ')}\` into /etc/hosts.
A repository to work on: ${it.repositoryUrl}
kubectl of the right version: ${it.kubectl}
All of it ends with: npm run cluster -- down ${name}`;
}
