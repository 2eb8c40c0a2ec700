import { type PagePreview, PREVIEW_HEADER } from '@slipway/contracts/operate';
import { headers } from 'next/headers';
import { decodePreview } from './preview-header.ts';

/** What app-server gave of the conversation whose page is asked for; `null` for every other page. */
export async function readPagePreview(): Promise<PagePreview | null> {
  return decodePreview((await headers()).get(PREVIEW_HEADER));
}
