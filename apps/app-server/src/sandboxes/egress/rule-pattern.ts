import { SlipwayError } from '@slipway/errors';
import {
  canonicalHost,
  type HostPattern,
  isInsideName,
  isMetadataHost,
  isName,
  isPublicAddress,
  readHostPattern,
} from '@slipway/net';
import type { OrgHosts } from '@slipway/outside';
import { parse } from 'tldts';

/**
 * The pattern of a rule, if it is about hosts of one owner on the internet. Private addresses, names of the cluster and
 * metadata services stay out of reach whatever an organization writes: egress-proxy refuses those by address.
 * @throws SlipwayError `request.invalid` for no pattern, `egress.too-wide` for one that takes in what is not one
 * owner's.
 */
export function rulePattern(text: string): HostPattern {
  const pattern = readHostPattern(text);
  if (pattern === null) {
    const message = 'is no host, such as api.example.com, *.example.com or api.example.com:8443';
    throw new SlipwayError('request.invalid', `host: ${message}`, { fields: [{ path: 'host', message }] });
  }
  const { host, below } = pattern;
  if (!isOfInternet(host))
    throw tooWide(`${host} is not of the internet; an operator permits private networks for the installation.`);
  if (!isName(host)) return pattern;
  // An exact name is one host, also where hosts of others stand below it.
  if (below && parse(host, { allowPrivateDomains: true }).domain === null)
    throw tooWide(`*.${host} takes in hosts of many owners: ${host} is a public suffix.`);
  return pattern;
}

/**
 * Refuses a permission that would let nothing through: what egress-proxy does not let an organization allow.
 * @throws SlipwayError `egress.not-offered`
 */
export function assertOffered(pattern: HostPattern, hosts: OrgHosts): void {
  const problem = hosts.problemOf(pattern);
  if (problem === null) return;
  throw new SlipwayError('egress.not-offered', `Nothing would be let through by this rule: ${problem}.`);
}

/** By its name or address alone; where a name leads is looked at when it is connected to. */
export function isOfInternet(host: string): boolean {
  return !isMetadataHost(host) && (isName(host) ? !isInsideName(host) : isPublicAddress(host));
}

/** A host, and the names above it that a pattern `*.name` may be about. */
export function namesAbove(host: string): string[] {
  if (!isName(host)) return [host];
  const labels = host.split('.');
  return labels.slice(0, -1).map((_label, index) => labels.slice(index).join('.'));
}

/** In the form in which hosts are compared; itself where it is none. */
export const comparedHost = (host: string): string => canonicalHost(host.includes(':') ? `[${host}]` : host) ?? host;

function tooWide(detail: string): SlipwayError {
  return new SlipwayError('egress.too-wide', detail);
}
