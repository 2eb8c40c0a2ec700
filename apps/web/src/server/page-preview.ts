import { type PagePreview, PREVIEW_HEADER } from '@slipway/contracts/operate';
import { headers } from 'next/headers';
import { cache } from 'react';
import { decodePreview } from './preview-header.ts';

/** What app-server gave of the page that is asked for. Read once a page. */
export const readPagePreview = cache(
  async (): Promise<PagePreview> =>
    decodePreview((await headers()).get(PREVIEW_HEADER)) ?? { me: null, desk: null, conversation: null },
);
