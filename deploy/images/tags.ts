import { createHash } from 'node:crypto';

/** What an image is made of, as digests. Two images with equal inputs are one image. */
export interface ImageInputs {
  /** Slipway's. */
  readonly version: string;
  /** What the image stands on: `debian-bookworm-amd64`. */
  readonly base: string;
  /** Dependencies by name: the package lock, Node, npm, the way they are put together. */
  readonly lock: Readonly<Record<string, string>>;
  /** Our own files by their path in the image. */
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * The three names of an image, the most exact first. A build starts from the first of them that is already there: the
 * source tag's image is the wanted one; the lock tag's misses only our files; the versioned tag's is what users name by
 * hand.
 */
export interface ImageTags {
  /** `source-…`: base, dependencies and our files. */
  readonly source: string;
  /** `lock-…`: base and dependencies. */
  readonly lock: string;
  /** `v1.2.3_debian-bookworm-amd64`: moves with every build of that version. */
  readonly versioned: string;
}

/** Pure. Each tag is a valid one of the OCI distribution specification, at most 128 characters. */
export function imageTags(inputs: ImageInputs): ImageTags {
  return {
    source: `source-${digestOf({ base: inputs.base, ...prefixed('lock', inputs.lock), ...prefixed('source', inputs.sources) }).slice(0, 20)}`,
    lock: `lock-${digestOf({ base: inputs.base, ...prefixed('lock', inputs.lock) }).slice(0, 20)}`,
    versioned: `v${inputs.version}_${inputs.base}`.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 128),
  };
}

/**
 * SHA-256 over named parts, in hex. The order in which they are given does not count, and no two sets of parts run
 * together.
 */
export function digestOf(parts: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}

function prefixed(kind: string, parts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [`${kind}:${name}`, value]));
}
