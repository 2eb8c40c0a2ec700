import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import type { Layer } from './layer.ts';
import { writeTar } from './tar-file.ts';

/** How a container of the image starts by default. The pods of runtime-api say all of it themselves. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  /** `3000/tcp`, for people and tools: it opens nothing. */
  readonly ExposedPorts?: Readonly<Record<string, Readonly<Record<string, never>>>>;
  readonly StopSignal?: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface ImagePlan {
  readonly architecture: string;
  /** ISO 8601. Of the inputs, not of the build. */
  readonly created: string;
  readonly config: ImageConfig;
  /** Lowest first. */
  readonly layers: readonly (Layer & { readonly file: string; readonly note: string })[];
}

const MEDIA = 'application/vnd.oci.image';

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly content: Buffer | { readonly file: string };
}

/**
 * Writes an OCI image layout as one tar: what `ctr images import` takes. `name` is of the form `host/repository`; the
 * image is found there under each of `tags` and under its digest. The same plan and tags make the same bytes.
 *
 * @returns the digest of the manifest, which names the image in a pod.
 */
export async function writeOciArchive(
  plan: ImagePlan,
  name: string,
  tags: readonly string[],
  file: string,
  signal: AbortSignal,
): Promise<string> {
  const config = jsonBlob(`${MEDIA}.config.v1+json`, {
    created: plan.created,
    architecture: plan.architecture,
    os: 'linux',
    config: plan.config,
    rootfs: { type: 'layers', diff_ids: plan.layers.map(({ diffId }) => diffId) },
    history: plan.layers.map(({ note }) => ({ created: plan.created, created_by: note })),
  });
  const layers: Blob[] = plan.layers.map(({ digest, size, file: source }) => ({
    mediaType: `${MEDIA}.layer.v1.tar+zstd`,
    digest,
    size,
    content: { file: source },
  }));
  const manifest = jsonBlob(`${MEDIA}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: descriptor(config),
    layers: layers.map(descriptor),
  });
  const index = {
    schemaVersion: 2,
    mediaType: `${MEDIA}.index.v1+json`,
    manifests: [...tags.map((tag) => [`${name}:${tag}`, tag]), [`${name}@${manifest.digest}`, manifest.digest]].map(
      ([whole, reference]) => ({
        ...descriptor(manifest),
        platform: { architecture: plan.architecture, os: 'linux' },
        annotations: { 'io.containerd.image.name': whole, 'org.opencontainers.image.ref.name': reference },
      }),
    ),
  };

  const header = (path: string, size: number) => ({
    name: path,
    size,
    mode: 0o644,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    mtime: new Date(0),
  });
  const fill = async (tar: Pack): Promise<void> => {
    const whole = (path: string, content: Buffer) => void tar.entry(header(path, content.length), content);
    whole('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}'));
    whole('index.json', Buffer.from(JSON.stringify(index)));
    for (const { digest, size, content } of [manifest, config, ...layers]) {
      const path = `blobs/sha256/${digest.replace('sha256:', '')}`;
      if (Buffer.isBuffer(content)) whole(path, content);
      else
        await pipeline(createReadStream(content.file, { highWaterMark: 1 << 20 }), tar.entry(header(path, size)), {
          signal,
        });
    }
  };
  await writeTar(file, fill, [], signal);
  return manifest.digest;
}

function jsonBlob(mediaType: string, value: unknown): Blob {
  const content = Buffer.from(JSON.stringify(value));
  return {
    mediaType,
    digest: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    size: content.length,
    content,
  };
}

function descriptor({ mediaType, digest, size }: Blob): { mediaType: string; digest: string; size: number } {
  return { mediaType, digest, size };
}
