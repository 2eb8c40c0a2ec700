import { SlipwayError } from '@slipway/errors';

/**
 * @throws SlipwayError `request.invalid` for more steps than the organization lets an agent take. `null`, or nothing:
 * as many as it allows.
 */
export function assertStepsAllowed(wanted: number | null | undefined, allowed: number | null): void {
  if (wanted === null || wanted === undefined || allowed === null || wanted <= allowed) return;
  const message = `must be at most ${allowed}: your organization allows no more`;
  throw new SlipwayError('request.invalid', `maxIterations: ${message}`, {
    fields: [{ path: 'maxIterations', message }],
  });
}
