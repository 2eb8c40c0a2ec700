import { inflateRawSync } from 'node:zlib';
import { MAX_PREVIEW_BYTES, PagePreview } from '@slipway/contracts/operate';

/**
 * Reads the value of `PREVIEW_HEADER`; `null` for one that another version wrote, or nobody: the page then begins with
 * a skeleton.
 */
export function decodePreview(value: string | null): PagePreview | null {
  if (value === null) return null;
  try {
    const text = inflateRawSync(Buffer.from(value, 'base64url'), { maxOutputLength: MAX_PREVIEW_BYTES }).toString(
      'utf8',
    );
    return PagePreview.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
