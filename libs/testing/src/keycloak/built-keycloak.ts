import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { takeBuildLock } from '../cluster/build/build-lock.js';
import { findProgram } from '../cluster/find-program.js';
import { findJava, type Java } from './java.js';

const KEYCLOAK_VERSION = '26.7.4';
const OLDEST_JAVA = 17;
const BUILD_OPTIONS = ['--db=postgres', '--health-enabled=true'];
/** Part of the folder's name: another number when BUILD_OPTIONS change. */
const BUILD = 'postgres-1';

/** No Keycloak can be had on this machine. The message is one sentence that says what is missing and what to do. */
class KeycloakUnavailable extends Error {
  override readonly name = 'KeycloakUnavailable';
}

export interface BuiltKeycloak {
  /** The unpacked distribution, after `kc.sh build`. Nothing is written into it. */
  readonly folder: string;
  readonly java: Java;
}

const place = (): string =>
  path.join(
    process.env['SLIPWAY_KEYCLOAK_CACHE'] ?? path.join(os.homedir(), '.cache/slipway/keycloak'),
    `${KEYCLOAK_VERSION}-${BUILD}`,
  );

/** What `buildKeycloak` misses, as one sentence; `null` when it can be tried, or is built. */
function missingForKeycloak(): string | null {
  if (findJava(OLDEST_JAVA) === null)
    return `Keycloak runs on Java ${OLDEST_JAVA} or newer, and none is in JAVA_HOME or on the PATH: apt-get install openjdk-17-jre-headless.`;
  if (existsSync(place()) || findProgram('mvn', []) !== null) return null;
  return 'Keycloak is downloaded with Maven, and mvn is not on the PATH: apt-get install maven.';
}

/**
 * Keycloak's distribution as Maven Central has it (checked against its hash by Maven, through Maven's configured
 * mirror), made ready for Postgres: 170 MB and half a minute of CPU, nothing when it is there. Two builders at once
 * make it once; one that is killed leaves no folder that seems complete.
 *
 * @throws KeycloakUnavailable when Java or Maven is missing, or the download fails.
 */
export async function buildKeycloak(say: (line: string) => void, signal?: AbortSignal): Promise<BuiltKeycloak> {
  const missing = missingForKeycloak();
  const java = findJava(OLDEST_JAVA);
  if (missing !== null || java === null) throw new KeycloakUnavailable(missing ?? 'Java is missing.');
  const folder = place();
  if (existsSync(folder)) return { folder, java };
  await mkdir(path.dirname(folder), { recursive: true });
  const release = await takeBuildLock(
    `${folder}.lock`,
    (pid) => say(`keycloak: process ${pid} is building it; waiting for it`),
    signal,
  );
  try {
    if (existsSync(folder)) return { folder, java };
    await removeUnfinished(folder);
    const making = `${folder}.building-${process.pid}`;
    await mkdir(making);
    say(`keycloak: downloading ${KEYCLOAK_VERSION} …`);
    // In a folder of its own: Maven marks below the working directory what it has unpacked once, and never unpacks it
    // again.
    const artifact = `org.keycloak:keycloak-quarkus-dist:${KEYCLOAK_VERSION}:zip`;
    await run('mvn', ['-q', '-B', 'dependency:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${making}`], {
      cwd: making,
      java,
      signal,
    }).catch((error: unknown) => {
      throw new KeycloakUnavailable(
        `Keycloak could not be downloaded with Maven (${firstLine(error)}): look at its settings and the network.`,
        {
          cause: error,
        },
      );
    });
    const unpacked = path.join(making, `keycloak-${KEYCLOAK_VERSION}`);
    say('keycloak: building …');
    await run(path.join(unpacked, 'bin/kc.sh'), ['build', ...BUILD_OPTIONS], { cwd: unpacked, java, signal });
    await rename(unpacked, folder);
    return { folder, java };
  } finally {
    await removeUnfinished(folder);
    await release();
  }
}

/** Builds it where it is not yet. @returns why it cannot be had, as one sentence; `null` when it is there. */
export async function whyNoKeycloak(say: (line: string) => void): Promise<string | null> {
  try {
    await buildKeycloak(say);
    return null;
  } catch (error) {
    if (error instanceof KeycloakUnavailable) return error.message;
    throw error;
  }
}

/** What builders that were killed left behind. Only with the lock. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(path.dirname(folder)))
    if (name.startsWith(`${path.basename(folder)}.building-`))
      await rm(path.join(path.dirname(folder), name), { recursive: true, force: true });
}

async function run(
  program: string,
  args: readonly string[],
  at: { cwd: string; java: Java; signal: AbortSignal | undefined },
): Promise<void> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], JAVA_HOME: at.java.home };
  const child = spawn(program, args, {
    cwd: at.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(at.signal === undefined ? {} : { signal: at.signal }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`${path.basename(program)} ended with ${code}: ${said.trim()}`);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
}
