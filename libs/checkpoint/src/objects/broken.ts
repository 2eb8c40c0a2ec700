import { SlipwayError } from '@slipway/errors';

/** What was read is not what the format allows. The reason names the rule, never content. */
export function broken(reason: string, cause?: unknown): SlipwayError {
  return new SlipwayError('checkpoint.broken', `The checkpoint cannot be read: ${reason}.`, { cause });
}

/** A bound of the format or of a request is exceeded. */
export function tooLarge(reason: string): SlipwayError {
  return new SlipwayError('checkpoint.too-large', `The checkpoint is too large: ${reason}.`);
}
