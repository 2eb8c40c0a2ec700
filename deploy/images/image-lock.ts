/** One Debian package, as the archive's signed index named it when the lock was made. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
  /** Bytes of the .deb. */
  readonly size: number;
}

/** Everything of the image that comes from elsewhere, but for Node, which the project's own lockfile pins. */
export interface ImageLock {
  /** Of Debian: `bookworm`. */
  readonly suite: string;
  /** Debian's name of it: `amd64`, `arm64`. */
  readonly architecture: string;
  /** Seconds since 1970. No file of the image is younger, so that two builds of one lock are alike. */
  readonly epoch: number;
  readonly packages: readonly LockedPackage[];
  /** `integrity` as npm writes it: `sha512-` and base64. */
  readonly npm: { readonly version: string; readonly integrity: string };
}

const HEADER = `# What the sandbox image is made of, to the byte. Written by \`npm run image -- lock\` from packages.list; not by hand.
# deb NAME VERSION ARCHITECTURE SHA256 BYTES`;

export function formatLock(lock: ImageLock): string {
  const byName = [...lock.packages].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    HEADER,
    `suite ${lock.suite}`,
    `architecture ${lock.architecture}`,
    `epoch ${lock.epoch}`,
    `npm ${lock.npm.version} ${lock.npm.integrity}`,
    ...byName.map(
      ({ name, version, architecture, sha256, size }) => `deb ${name} ${version} ${architecture} ${sha256} ${size}`,
    ),
    '',
  ].join('\n');
}

/** @throws Error that names the line it does not understand, or the part that is missing. */
export function parseLock(text: string): ImageLock {
  const packages: LockedPackage[] = [];
  const single = new Map<string, readonly string[]>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [kind = '', ...fields] = line.split(' ');
    if (kind === 'deb') packages.push(parsePackage(fields, `packages.lock, line ${index + 1}`));
    else single.set(kind, fields);
  }
  const field = (name: string, at = 0): string => {
    const value = single.get(name)?.[at];
    if (!value) throw new Error(`packages.lock has no entry for \`${name}\`. Renew the lock: npm run image -- lock.`);
    return value;
  };
  return {
    suite: field('suite'),
    architecture: field('architecture'),
    epoch: Number(field('epoch')),
    packages,
    npm: { version: field('npm'), integrity: field('npm', 1) },
  };
}

/** What follows `deb` in a lock. @param where for the reader of the failure. @throws Error. */
export function parsePackage(fields: readonly string[], where: string): LockedPackage {
  const [name, version, architecture, sha256, size] = fields;
  const bytes = Number(size);
  if (!name || !version || !architecture || !/^[0-9a-f]{64}$/.test(sha256 ?? '') || !Number.isSafeInteger(bytes))
    throw new Error(`${where}: not a package: deb ${fields.join(' ')}. Renew the lock: npm run image -- lock.`);
  return { name, version, architecture, sha256: sha256!, size: bytes };
}
