/**
 * `Prefer: delivery=after-turn` (RFC 7240): an agent at work is not disturbed. A header and no field of the body, so
 * that a replica of the version before takes the message too.
 */
export function wantsAfterTurn(prefer: string | string[] | undefined): boolean {
  return /(?:^|[,;]\s*)delivery\s*=\s*"?after-turn\b/i.test([prefer ?? []].flat().join(','));
}
