import { SlipwayError } from '@slipway/errors';

/** What a sandbox gave away is not what an honest repository has. */
export function unsound(detail: string): SlipwayError {
  return new SlipwayError('pull-request.unsound', detail);
}

export function tooLarge(detail: string): SlipwayError {
  return new SlipwayError('pull-request.too-large', detail);
}
