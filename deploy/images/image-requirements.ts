import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ImageFile, lookUp, type ReadImage } from './image-archive-reader.ts';
import {
  AGENT_SERVER_UID,
  AGENT_UID,
  BUNDLES,
  type BundleName,
  builtBundle,
  NODE_PATH,
  SLIPWAY_GID,
} from './image-parts.ts';

/**
 * `lacks`: a pod of this image would not work. `differs`: it would, otherwise than ours. Each a sentence that says what
 * to do.
 */
export interface Findings {
  readonly missing: readonly string[];
  readonly differs: readonly string[];
}

/** Programs that agent-server, or the platform through it, runs in every sandbox. */
const PROGRAMS: Readonly<Record<string, string>> = {
  bash: 'the agent has no shell without it',
  git: 'repositories are cloned and compared with it',
  tar: 'workspaces are packed with it',
};
const EXPECTED_BY_AGENTS = ['python3', 'curl', 'rg', 'jq', 'tini'];
const SEARCHED = ['usr/local/sbin', 'usr/local/bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'];
/** ELF's e_machine. */
const MACHINES: Readonly<Record<string, number>> = { amd64: 62, arm64: 183 };
const NATIVE_TERMINAL: Readonly<Record<string, string>> = {
  amd64: 'node-pty-linux-x64',
  arm64: 'node-pty-linux-arm64',
};

/**
 * What a custom image must hold for the pods that runtime-api makes of it. Reads the image only; nothing of it is run.
 */
export function findingsOf({ architecture, config, files }: ReadImage): Findings {
  const missing: string[] = [];
  const differs: string[] = [];
  const need = (holds: boolean, sentence: string): void => {
    if (!holds) missing.push(sentence);
  };
  const executable = (file: ImageFile | undefined): boolean => file?.kind === 'file' && (file.mode & 0o001) !== 0;
  const program = (name: string): boolean => SEARCHED.some((folder) => executable(lookUp(files, `${folder}/${name}`)));
  const text = (at: string): string => lookUp(files, at)?.head.toString('utf8') ?? '';

  const node = lookUp(files, NODE_PATH);
  need(executable(node), `No Node at ${NODE_PATH} that every user may run. COPY it from the base image.`);
  if (executable(node) && node!.head.readUInt16LE(18) !== MACHINES[architecture])
    missing.push(`${NODE_PATH} is not a program for ${architecture}.`);
  for (const [name, at] of Object.entries(BUNDLES) as [BundleName, string][]) {
    const bundle = lookUp(files, at);
    need(
      bundle?.kind === 'file' && (bundle.mode & 0o004) !== 0,
      `No ${at} that every user may read. COPY /opt/slipway from the base image.`,
    );
    const ours = createHash('sha256')
      .update(readFileSync(builtBundle(name)))
      .digest('hex');
    if (bundle !== undefined && bundle.sha256 !== ours)
      differs.push(
        `${at} is not the one of this checkout. Rebuild the image on the base of this version, or runtime-api and sandbox may be incompatible.`,
      );
    if (bundle !== undefined && (bundle.uid !== 0 || (bundle.mode & 0o022) !== 0))
      missing.push(`${at} can be changed by users other than root. chown root, chmod 0644.`);
  }
  const terminal = `/opt/slipway/node_modules/@lydell/${NATIVE_TERMINAL[architecture]}/pty.node`;
  need(
    lookUp(files, terminal)?.kind === 'file',
    `There is no ${terminal}: the agent would have no terminal. COPY /opt/slipway from the base image whole.`,
  );

  const passwd = text('/etc/passwd');
  for (const [user, uid] of [
    ['agent-server', AGENT_SERVER_UID],
    ['agent', AGENT_UID],
  ] as const) {
    need(
      new RegExp(`^${user}:[^:]*:${uid}:${SLIPWAY_GID}:`, 'm').test(passwd),
      `/etc/passwd has no user ${user} with UID ${uid} and GID ${SLIPWAY_GID}. RUN useradd --uid ${uid} --gid ${SLIPWAY_GID} ${user}.`,
    );
  }
  need(
    new RegExp(`^slipway:[^:]*:${SLIPWAY_GID}:`, 'm').test(text('/etc/group')),
    `/etc/group has no group slipway with GID ${SLIPWAY_GID}. RUN groupadd --gid ${SLIPWAY_GID} slipway.`,
  );
  for (const folder of ['/workspace', '/home/agent', '/var/lib/slipway', '/tmp'])
    need(
      lookUp(files, folder)?.kind === 'directory',
      `There is no folder ${folder}; a pod mounts a volume there. RUN mkdir -p ${folder}.`,
    );
  for (const [name, why] of Object.entries(PROGRAMS))
    need(program(name), `${name} is on none of ${SEARCHED.map((folder) => `/${folder}`).join(':')}: ${why}.`);
  for (const name of EXPECTED_BY_AGENTS)
    if (!program(name)) differs.push(`${name} is missing, which agents find in the base image.`);
  need(
    (lookUp(files, '/etc/ssl/certs/ca-certificates.crt')?.kind ?? '') === 'file',
    'No root certificates in /etc/ssl/certs: git and curl trust no server. Install ca-certificates.',
  );
  for (const volume of Object.keys(config.Volumes ?? {}))
    differs.push(`VOLUME ${volume} makes a folder per pod that no size limit holds. Take it out of the Dockerfile.`);
  return { missing, differs };
}
