export {
  decideEgress,
  decideRequest,
  EGRESS_OPEN_PORTS,
  EGRESS_SCOPES,
  type EgressAttempt,
  type EgressRequestAttempt,
  type EgressRuleOf,
  type EgressScope,
  type EgressVerdict,
  type RequestLimits,
} from './egress-decision.js';
export { canonicalHost, type HostPattern, isName, namesHost, readHostPattern } from './egress-hosts.js';
export { isMetadataAddress, isMetadataHost, METADATA_RANGES } from './metadata-address.js';
export { matchesPath, mayMatchPath } from './path-pattern.js';
export { isInsideName, isPublicAddress } from './public-address.js';
export {
  PACE_BYTES,
  PACE_LEAVE_MS,
  PACE_WINDOW_MS,
  ReadingPace,
  takenBytes,
  type WritingSocket,
} from './reading-pace.js';
export { type RequestTarget, readRequestTarget } from './request-path.js';
export { type Selected, SHINGLE_BYTES, Winnowing } from './winnowing.js';
