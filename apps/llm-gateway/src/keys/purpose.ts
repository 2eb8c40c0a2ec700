/** What a call is for when it does not say so. */
const DEFAULT_PURPOSE = 'agent';
const PURPOSE = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * `x-slipway-purpose` of a request (agent, condenser, title …): at most 32 small letters, digits and dashes; anything
 * else counts as `agent`.
 */
export function purposeOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && PURPOSE.test(header) ? header : DEFAULT_PURPOSE;
}
