import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import type { OpenInstall } from './open-install.ts';

/**
 * `values.yaml` of this folder with what only the place knows: the sandbox image's digest and, where there is one, the
 * bucket in place of the volume.
 */
export async function operatorValues({
  sandboxDigest,
  bucketUrl,
}: Pick<OpenInstall, 'sandboxDigest' | 'bucketUrl'>): Promise<string> {
  const values = parse(await readFile(path.join(import.meta.dirname, 'values.yaml'), 'utf8')) as {
    sandboxes: Record<string, unknown>;
  };
  const image = { ...(values.sandboxes['image'] as object), digest: sandboxDigest };
  if (bucketUrl === null) return stringify({ ...values, sandboxes: { ...values.sandboxes, image } });
  const port = Number(new URL(new URL(bucketUrl).searchParams.get('endpoint') ?? 'https://s3').port || 443);
  return stringify({
    ...values,
    sandboxes: { ...values.sandboxes, image, workspaceStore: { url: bucketUrl, existingSecret: 'bucket' } },
    networkPolicy: { workspaceStore: { ports: [port] } },
  });
}
