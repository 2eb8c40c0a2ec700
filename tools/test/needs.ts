import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** A program that suites need beside the packages of npm. */
interface Need {
  /** Of Debian. */
  readonly packages: readonly string[];
  readonly there: () => boolean;
  /** Without it nothing runs. */
  readonly required?: boolean;
  /** What is not run without it, as the end of a sentence. */
  readonly without: string;
}

/** What is missing here, with its remedy. `required`: without it nothing can run. */
interface Missing {
  readonly required: boolean;
  readonly sentence: string;
}

const hasGo = (): boolean => onPath('go', 'version') || existsSync('/usr/local/go/bin/go');
/** Only where a cluster can be built at all. */
const forCluster =
  (there: () => boolean): (() => boolean) =>
  () =>
    !hasGo() || there();

/** The only list: `.ci/run` installs from it, too. */
const NEEDS: readonly Need[] = [
  { packages: ['git'], there: () => onPath('git', '--version'), required: true, without: 'nothing runs' },
  { packages: ['bash'], there: () => onPath('bash', '--version'), required: true, without: 'nothing runs' },
  {
    packages: ['redis-server'],
    there: () => onPath('redis-server', '--version'),
    without: 'what needs Redis is skipped',
  },
  { packages: ['chromium'], there: hasChromium, without: 'the screens are not tested in a browser' },
  {
    packages: ['openjdk-17-jre-headless'],
    there: () => process.env['JAVA_HOME'] !== undefined || onPath('java', '-version'),
    without: 'Keycloak is not tested',
  },
  { packages: ['maven'], there: () => onPath('mvn', '--version'), without: 'Keycloak cannot be fetched' },
  {
    packages: ['python3', 'python3-venv'],
    there: () => succeeds('python3', '-c', 'import venv, ensurepip'),
    without: "OpenHands' and the providers' clients for Python are not tested",
  },
  { packages: ['iproute2'], there: forCluster(() => onPath('ip', '-V')), without: 'no cluster is built' },
  {
    packages: ['nftables'],
    there: forCluster(() => onPath('nft', '--version') || existsSync('/usr/sbin/nft')),
    without: 'no cluster is built',
  },
  {
    packages: ['gcc', 'libc6-dev'],
    there: forCluster(() => onPath('gcc', '--version')),
    without: 'no cluster is built',
  },
  {
    packages: ['pkg-config'],
    there: forCluster(() => onPath('pkg-config', '--version')),
    without: 'no cluster is built',
  },
  {
    packages: ['libseccomp-dev'],
    there: forCluster(() => succeeds('pkg-config', '--exists', 'libseccomp')),
    without: 'no cluster is built',
  },
];

export function missingNeeds(root: string): Missing[] {
  const missing: Missing[] = [];
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < 24)
    missing.push({
      required: true,
      sentence: `The suites need Node 24 and this is ${process.versions.node}: start them with \`npm test\`.`,
    });
  if (!existsSync(path.join(root, 'node_modules/.package-lock.json')))
    missing.push({ required: true, sentence: 'The packages are not installed: run `npm ci`.' });
  const absent = NEEDS.filter(({ there }) => !there());
  for (const { packages, required = false, without } of absent)
    missing.push({ required, sentence: `Not installed: ${packages.join(', ')}. Without it ${without}.` });
  if (!hasGo())
    missing.push({
      required: false,
      sentence: 'Go is not installed (go.dev/doc/install). Without it no cluster, chart tool or git host is built.',
    });
  if (absent.length > 0)
    missing.push({ required: false, sentence: '`npm test -- --install` installs what Debian has of it.' });
  return missing;
}

/** Installs with apt-get what is missing, one package after the other; `say` hears what could not be. */
export function installMissing(say: (line: string) => void): void {
  const packages = NEEDS.filter(({ there }) => !there()).flatMap(({ packages }) => packages);
  if (packages.length === 0) return;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const refusal = !onPath('apt-get', '--version')
    ? 'there is no apt-get here'
    : asRoot.length > 0 && !succeeds('sudo', '-n', 'true')
      ? 'this user may not install packages'
      : null;
  if (refusal !== null) {
    say(`Not installed: ${packages.join(', ')} (${refusal}).`);
    return;
  }
  const apt = (timeout: number, ...args: string[]): boolean => {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args] as [string, ...string[]];
    return (
      spawnSync(command, rest, { stdio: 'ignore', timeout, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
        .status === 0
    );
  };
  if (!apt(300_000, 'update', '-qq')) say('apt-get update failed; trying with the lists that are there.');
  for (const name of packages)
    if (!apt(600_000, 'install', '-y', '-qq', '--no-install-recommends', name))
      say(`Not installed: ${name} (apt-get could not install it).`);
}

function hasChromium(): boolean {
  return (
    process.env['CHROMIUM_PATH'] !== undefined ||
    ['chromium', 'chromium-browser', 'google-chrome'].some((name) => onPath(name, '--version'))
  );
}

function onPath(command: string, argument: string): boolean {
  try {
    execFileSync(command, [argument], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 20_000 }).status === 0;
}
