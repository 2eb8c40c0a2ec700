import { MAX_TAG_LENGTH, MAX_TAGS } from '@slipway/contracts/conversations';

/** Tags apart by commas, each once; `null`: too many, or one is too long. */
export function readTags(text: string): string[] | null {
  const tags = [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  return tags.length > MAX_TAGS || tags.some((tag) => tag.length > MAX_TAG_LENGTH) ? null : tags;
}
