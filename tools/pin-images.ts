// `node tools/pin-images.ts`: writes the digest behind each base image of our Dockerfiles, as the registry has it now.
// Needs Docker's buildx and a registry. .github/workflows/supply-chain.yaml runs it, so that an update of a base image
// is a reviewed change.
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** `FROM image:tag[@digest]`, but not a stage of the same file nor `scratch`. */
const FROM = /^(FROM\s+)([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s|$)/gm;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Answers the digest of an image by its tag. */
export type ReadDigest = (image: string) => Promise<string>;

/** A Dockerfile with each base image pinned again. @throws Error when an answer is no digest. */
export async function pinned(dockerfile: string, read: ReadDigest): Promise<string> {
  const images = new Set([...dockerfile.matchAll(FROM)].map(([, , image = '']) => image));
  const digests = new Map<string, string>();
  for (const image of images) {
    const digest = await read(image);
    if (!DIGEST.test(digest)) throw new Error(`${image}: ${JSON.stringify(digest.slice(0, 100))} is no digest`);
    digests.set(image, digest);
  }
  return dockerfile.replace(FROM, (_, from: string, image: string) => `${from}${image}@${digests.get(image)}`);
}

/** Longest wait for one answer of the registry. Milliseconds. */
const TIMEOUT_MS = 120_000;

const ofRegistry: ReadDigest = async (image) => {
  const { stdout } = await promisify(execFile)(
    'docker',
    ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', image],
    {
      timeout: TIMEOUT_MS,
    },
  );
  return stdout.trim();
};

if (import.meta.filename === process.argv[1]) {
  const root = path.resolve(import.meta.dirname, '..');
  for (const file of globSync('deploy/images/*/Dockerfile', { cwd: root })) {
    const place = path.join(root, file);
    writeFileSync(place, await pinned(readFileSync(place, 'utf8'), ofRegistry));
    console.log(`pinned the base images of ${file}`);
  }
}
