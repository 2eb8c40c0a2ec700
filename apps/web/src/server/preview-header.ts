import { inflateRawSync } from 'node:zlib';
import { PagePreview } from '@slipway/contracts/operate';

/** Most that a header may unpack to. Bytes. */
const MAX_BYTES = 128 * 1024;

/**
 * Reads the value of `PREVIEW_HEADER`; `null` for one that another version wrote, or nobody: the page then begins with
 * a skeleton.
 */
export function decodePreview(value: string | null): PagePreview | null {
  if (value === null) return null;
  try {
    const text = inflateRawSync(Buffer.from(value, 'base64url'), { maxOutputLength: MAX_BYTES }).toString('utf8');
    return PagePreview.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
