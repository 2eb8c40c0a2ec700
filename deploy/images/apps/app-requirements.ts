import { lookUp, type ReadImage } from '../image-archive-reader.ts';
import { NODE_PATH } from '../image-parts.ts';
import type { Findings } from '../image-requirements.ts';
import { DOC_FOLDER } from './app-contents.ts';

/**
 * What no image may contain, as it appears in a file: keys and tokens by their form. Examples in libraries do not have
 * it.
 */
const SECRETS: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/,
  'a key of AWS': /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  'a token of GitHub': /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60})/,
  'a token of npm': /\bnpm_[A-Za-z0-9]{36}\b/,
  'a token of Slack': /\bxox[abpr]-[0-9]{8,}-[0-9A-Za-z-]{10,}/,
  'a key of a model’s provider': /\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{40,}/,
  'a source map': /sourceMappingURL=data:application\/json[^,]*,[A-Za-z0-9+/]{200}/,
};
/** Files that have no place in an image, by name. */
const UNWANTED: Readonly<Record<string, RegExp>> = {
  'a source map': /\.map$/,
  'a test': /\.test\.[cm]?[jt]sx?$/,
  'an environment file': /(^|\/)\.env(\.[^/]*)?$/,
  'npm’s settings, which may hold a token': /(^|\/)\.npmrc$/,
  'a key': /(^|\/)(id_rsa|id_ed25519|[^/]+\.(key|p12|pfx))$/,
};
const SECRET_VARIABLE = /SECRET|PASSWORD|TOKEN|_KEY/i;

/**
 * What an app's image must be; `missing` has one sentence for each thing that it is not. Give the reader `keepWhole:
 * isOurs`, or what lies far into a file is not seen.
 */
export function appFindingsOf({ config, files }: ReadImage): Findings {
  const missing: string[] = [];
  const need = (holds: boolean, sentence: string): void => {
    if (!holds) missing.push(sentence);
  };
  need(
    /^[1-9]\d*(:[1-9]\d*)?$/.test(config.User ?? ''),
    `USER is \`${config.User ?? ''}\`: a pod that must not run as root needs a number other than 0.`,
  );
  for (const volume of Object.keys(config.Volumes ?? {}))
    missing.push(`VOLUME ${volume} makes a folder that no size limit holds.`);
  for (const pair of config.Env ?? [])
    need(!SECRET_VARIABLE.test(pair.split('=')[0]!), `ENV ${pair.split('=')[0]} belongs into a Secret of the cluster.`);
  const started = config.Entrypoint?.[1];
  need(
    config.Entrypoint?.[0] === 'node' && lookUp(files, started ?? '')?.kind === 'file',
    `ENTRYPOINT does not start a program of the image: ${config.Entrypoint?.join(' ')}.`,
  );

  for (const [name, file] of files) {
    if (file.kind === 'link') continue;
    if ((file.mode & 0o6000) !== 0) missing.push(`/${name} is setuid or setgid.`);
    if (file.uid !== 0 || file.gid !== 0 || (name !== 'tmp' && (file.mode & 0o022) !== 0))
      missing.push(`/${name} can be changed by users other than root.`);
    if ((file.mode & 0o004) === 0) missing.push(`/${name} cannot be read by the image's user.`);
    if (file.kind !== 'file') continue;
    // A shell or a package manager is one of these, whatever its name is.
    if ((file.mode & 0o111) !== 0 && `/${name}` !== NODE_PATH && !/^usr\/lib\/[^/]+-linux-gnu\//.test(name))
      missing.push(`/${name} can be run; only Node has to.`);
    for (const [what, pattern] of Object.entries(UNWANTED))
      if (pattern.test(name)) missing.push(`/${name} is ${what}.`);
    if (!isOurs(name)) continue;
    const text = file.head.toString('latin1');
    for (const [what, pattern] of Object.entries(SECRETS))
      if (pattern.test(text)) missing.push(`/${name} holds ${what}.`);
  }
  const node = lookUp(files, NODE_PATH);
  need(node?.kind === 'file' && (node.mode & 0o001) !== 0, `No Node at ${NODE_PATH} that every user may run.`);
  need(lookUp(files, '/tmp')?.mode === 0o1777, '/tmp is not a folder that every user may write to.');
  missing.push(...billFindings(lookUp(files, `${DOC_FOLDER}/sbom.cdx.json`)?.head.toString('utf8')));
  need(
    (lookUp(files, `${DOC_FOLDER}/LICENSES.txt`)?.head.length ?? 0) > 1000,
    `There are no licences in /${DOC_FOLDER}/LICENSES.txt.`,
  );
  return { missing, differs: [] };
}

/** Files whose content is ours or was chosen by us, and is scanned. */
export function isOurs(name: string): boolean {
  return name.startsWith('opt/slipway/') || name.startsWith('usr/share/doc/slipway/') || name.startsWith('etc/');
}

function billFindings(text: string | undefined): string[] {
  if (text === undefined) return [`There is no bill of materials at /${DOC_FOLDER}/sbom.cdx.json.`];
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat?: string;
    components?: { name: string; version?: string; purl?: string; licenses?: unknown[] }[];
  };
  if (
    bomFormat !== 'CycloneDX' ||
    !components?.some(({ name }) => name === 'node') ||
    !components.some(({ purl }) => purl?.startsWith('pkg:deb/'))
  )
    return ['The bill of materials names neither Node nor a package of Debian.'];
  return components
    .filter(({ version, licenses }) => !version || !licenses?.length)
    .map(({ name }) => `The bill of materials has no version or no licence of ${name}.`);
}
