import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

export interface ImageFile {
  /** Without a leading slash. Folders on the way are made by whoever unpacks it. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer;
}

export interface ImageDescription {
  /** With a host and a tag, so that a kubelet does not add its own: `slipway.local/echo:1`. */
  readonly name: string;
  readonly entrypoint: readonly string[];
  readonly files: readonly ImageFile[];
  /** `uid` or `uid:gid`. */
  readonly user?: string;
}

/**
 * Writes an image of one layer as an OCI archive, made of the files and nothing else: no time, no name of who made it.
 * @returns the manifest's digest.
 */
export async function writeImage(file: string, image: ImageDescription): Promise<string> {
  const blobs = new Map<string, Buffer>();
  const put = (content: Buffer, mediaType: string): { mediaType: string; digest: string; size: number } => {
    const digest = sha256(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const platform = { architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' };
  const layer = tar(image.files);
  const layers = [put(gzipSync(layer), 'application/vnd.oci.image.layer.v1.tar+gzip')];
  const config = put(
    json({
      ...platform,
      rootfs: { type: 'layers', diff_ids: [sha256(layer)] },
      config: {
        Entrypoint: image.entrypoint,
        User: image.user ?? '',
        WorkingDir: '/',
        Env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      },
    }),
    'application/vnd.oci.image.config.v1+json',
  );
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = put(json({ schemaVersion: 2, mediaType, config, layers }), mediaType);
  const annotations = {
    'io.containerd.image.name': image.name,
    'org.opencontainers.image.ref.name': image.name.slice(image.name.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...manifest, platform, annotations }],
  };
  await writeFile(
    file,
    tar([
      { path: 'oci-layout', mode: 0o644, content: json({ imageLayoutVersion: '1.0.0' }) },
      { path: 'index.json', mode: 0o644, content: json(index) },
      ...[...blobs].map(([digest, content]) => ({ path: `blobs/sha256/${digest.slice(7)}`, mode: 0o644, content })),
    ]),
  );
  return manifest.digest;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Ustar: names of at most 100 bytes, files below 8 GiB. */
function tar(files: readonly ImageFile[]): Buffer {
  const parts = files.flatMap(({ path, mode, content }) => {
    if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a tar header`);
    const header = Buffer.alloc(512);
    const octal = (value: number, at: number, length: number): void =>
      void header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
    header.write(path, 0);
    octal(mode, 100, 8);
    for (const at of [108, 116]) octal(0, at, 8);
    octal(content.length, 124, 12);
    octal(0, 136, 12);
    header.write('        0', 148, 'latin1');
    header.write('ustar\0' + '00', 257, 'latin1');
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}
